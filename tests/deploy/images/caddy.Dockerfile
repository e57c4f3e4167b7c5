# In place of Caddy's official image: the same folders and the same command.
FROM porthole-check-debian
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends caddy >/dev/null \
    && rm -rf /var/lib/apt/lists/* && mkdir -p /config/caddy /data/caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
