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

# torch before anything that would ask for it: uv knows where its builds for a CPU are, and the usual one brings CUDA.
RUN make .venv/pip \
 && .venv/bin/python -m pip install --quiet --no-cache-dir uv \
 && .venv/bin/uv pip install --quiet --no-cache --python .venv/bin/python --torch-backend cpu -c constraints.txt torch
RUN make models

CMD ["make", "demo"]
