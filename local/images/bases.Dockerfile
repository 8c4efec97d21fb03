# Stand-ins for the base images of docker/*.Dockerfile where no registry is reached: the same Debian release from Debian's packages, with
# Python of Debian, Node.js of the npm registry and the Go that this machine has. `make images` builds them (docker/README.md).
FROM scratch AS debian
ADD debian.tar /
CMD ["bash"]

# With Python's headers, as the image that it stands for has them: the stages of classify and isolation are compiled against them.
FROM debian AS python
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv python3-dev && rm -rf /var/lib/apt/lists/* \
    && ln -s /usr/bin/python3 /usr/local/bin/python
CMD ["python3"]

FROM debian AS node
COPY node/ /usr/local/
CMD ["node"]

FROM debian AS go
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
COPY go/ /usr/local/go/
ENV GOPATH=/go GOTOOLCHAIN=local PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
CMD ["bash"]
