# The demo in a container:
#   docker build -t stereometer .
#   docker run --rm -v "$PWD/demo:/home/stereometer/demo/stereometer-runs" stereometer
FROM python:3.11-slim-bookworm

RUN apt-get update \
 && apt-get install -y --no-install-recommends make \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home stereometer

USER stereometer
WORKDIR /home/stereometer/demo
COPY --chown=stereometer Makefile pyproject.toml constraints.txt README.md LICENSE ./
COPY --chown=stereometer src src

ENV PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1
RUN make cpu
RUN make models

CMD ["make", "demo"]
