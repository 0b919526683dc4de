# Ansible, for the test of harness/labs/prepare.yml: from Debian's archive.
FROM debian:trixie-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ansible-core openssh-client \
 && rm -rf /var/lib/apt/lists/*
