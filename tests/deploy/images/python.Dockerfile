# In place of Python's official image, where none can be pulled.
FROM porthole-check-debian
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-venv >/dev/null \
    && rm -rf /var/lib/apt/lists/*
