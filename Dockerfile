# The image of adlens: the program and the embedded engine, nothing else. It
# runs without root and on a read-only file system; only /data is written.
#
#   docker build -t adlens .
#   docker run --read-only -v adlens-data:/data -p 8080:8080 adlens
#   docker run --read-only -e ADLENS_CLICKHOUSE=... -p 8080:8080 adlens

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -tags=nomsgpack -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/adlens ./cmd/adlens && mkdir /out/data

FROM node:22-bookworm-slim AS engine
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-progress && mkdir /out && cp node_modules/@chdb/lib-linux-x64-gnu/libchdb.so /out/

FROM gcr.io/distroless/base-debian12
COPY --from=engine /out/libchdb.so /usr/local/bin/libchdb.so
COPY --from=build /out/adlens /usr/local/bin/adlens
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV ADLENS_DATA_DIR=/data ADLENS_LISTEN=0.0.0.0:8080
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/adlens"]
CMD ["serve"]
