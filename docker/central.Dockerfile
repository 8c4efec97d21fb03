# The server side: pipelines, backend and the built UI in one image; the command decides which process it is.
# Base images are pinned by digest; another one: --build-arg PYTHON_IMAGE=python:3.12-slim-bookworm@sha256:...
# Other package indexes, and authorities of certificates that a proxy needs: docker/README.md. None of them reaches the image.
ARG NODE_IMAGE=node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c
ARG PYTHON_IMAGE=python:3.12-slim-bookworm@sha256:54c85f3c47607a77f32adec749d3c81d1348bf25833671f512b26a9b6d778cb3
# The pages are the same on every machine.
FROM --platform=${BUILDPLATFORM} ${NODE_IMAGE} AS ui
ARG NPM_CONFIG_REGISTRY
ARG NPM_CONFIG_CAFILE
WORKDIR /src
COPY frontend/package.json frontend/package-lock.json ./
RUN --mount=type=secret,id=authorities --mount=type=cache,target=/root/.npm npm ci
COPY frontend/ ./
RUN npm run build

FROM ${PYTHON_IMAGE} AS wheels
ARG PIP_INDEX_URL
ARG PIP_CERT
WORKDIR /src
# A C compiler for the stages of classify and isolation; it stays in this build stage.
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
RUN python -m venv /app/venv
ENV PATH=/app/venv/bin:$PATH
# Of requirements.lock what the product itself needs; the rest is for its development.
COPY docker/requirements.lock ./
RUN --mount=type=secret,id=authorities --mount=type=cache,target=/root/.cache/pip pip install --require-hashes -r requirements.lock
COPY pyproject.toml ./
COPY pipelines/wallwatch pipelines/wallwatch
COPY backend/wallwatch_backend backend/wallwatch_backend
COPY docker/compile.lock ./
# mypyc, which compiles the stages of classify and isolation, goes again; so do tests of libraries (with keys of their own) and what installs
# packages, none of which is of use to a container that runs.
RUN --mount=type=secret,id=authorities --mount=type=cache,target=/root/.cache/pip \
    pip install --no-deps . && pip install --require-hashes -r compile.lock && python -m wallwatch.jobs.compile_stage \
    && pip uninstall --yes mypy pathspec ast-serialize setuptools pip \
    && find /app/venv -type d '(' -name test -o -name tests ')' -prune -exec rm -r {} +

FROM ${PYTHON_IMAGE}
# LightGBM is built against the GNU OpenMP runtime, which the slim image lacks.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --no-create-home wallwatch \
    && install -d -o 10001 -g 10001 -m 0700 /var/lib/wallwatch /var/lib/wallwatch/secrets /var/lib/wallwatch/captures /var/lib/wallwatch-telemetry \
    # Certificates of the bundled broker, for the user of its image (docker-compose.yml); everybody may read what clients trust.
    && install -d -o 1000 -g 1000 -m 0755 /var/lib/wallwatch-kafka /var/lib/wallwatch-kafka/public \
    && install -d -o 1000 -g 1000 -m 0700 /var/lib/wallwatch-kafka/authority /var/lib/wallwatch-kafka/broker
COPY --from=wheels /app/venv /app/venv
COPY --from=ui /src/dist /app/ui
COPY alembic.ini /app/
COPY migrations /app/migrations
# The root file system is read-only and the user has no home: numba keeps what it compiles where both stacks mount a folder for it.
ENV PATH=/app/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR=/tmp/numba
WORKDIR /app
USER 10001:10001
EXPOSE 8080 8443
# Where the image comes from: --build-arg VERSION=... --build-arg REVISION=$(git rev-parse HEAD).
ARG VERSION=development
ARG REVISION=unknown
LABEL org.opencontainers.image.source=https://github.com/wallwatch/wallwatch \
    org.opencontainers.image.version=${VERSION} org.opencontainers.image.revision=${REVISION}
