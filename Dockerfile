# The image of adlens: the program and the embedded engine, nothing else. It runs
# without root and on a read-only file system; only /data is written.
#
# It is made of an unpacked release for linux-amd64, which has this file:
#
#   docker build -t adlens .
#   docker run --read-only --stop-timeout 60 -v adlens-data:/data -p 127.0.0.1:8080:8080 adlens
#   docker run --read-only --stop-timeout 60 -e ADLENS_CLICKHOUSE=... -p 127.0.0.1:8080:8080 adlens
#
# In the repository, `make image` makes both. BASE may be any image with glibc and
# the authorities' certificates, with which the platform's are checked.

ARG BASE=gcr.io/distroless/base-debian12
FROM ${BASE}
COPY libchdb.so adlens /usr/local/bin/
COPY NOTICES adlens.cdx.json /usr/share/doc/adlens/
COPY --chown=65532:65532 deploy/data /data
USER 65532:65532
ENV ADLENS_DATA_DIR=/data ADLENS_LISTEN=0.0.0.0:8080 TMPDIR=/data
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/adlens"]
CMD ["serve", "--json"]
