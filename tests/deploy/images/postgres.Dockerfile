# In place of PostgreSQL's official image: the same folders and variables, as far as compose.yaml uses them.
FROM porthole-check-debian
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null \
    && rm -rf /var/lib/apt/lists/* /var/lib/postgresql/* \
    && ln -s /usr/lib/postgresql/*/bin /opt/postgresql \
    && install -d -o postgres -g postgres -m 0700 /var/lib/postgresql/data \
    && install -d -o postgres -g postgres -m 3777 /var/run/postgresql
ENV PATH=/opt/postgresql:$PATH PGDATA=/var/lib/postgresql/data
COPY --chmod=755 docker-entrypoint.sh /usr/local/bin/
STOPSIGNAL SIGINT
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
