# All that a developer or a newcomer needs; each target does its own set-up.

GO ?= go
export CGO_ENABLED := 0
# Gin without a codec that nothing here speaks: a sixth of the program's build. One
# way of building for program, tests and releases, so that they share what is compiled.
export GOFLAGS := $(GOFLAGS) -tags=nomsgpack -trimpath

version := $(shell git describe --always --dirty 2>/dev/null || echo dev)

# The embedded engine's library, of which images are made too.
library := $(or $(ADLENS_ENGINE_LIBRARY),node_modules/@chdb/lib-linux-x64-gnu/libchdb.so)

# Compilers and linters give memory back seldom: that takes a seventh less of the processor.
build lint staged-%: export GOGC := 400

.PHONY: help demo build engine modules test lint fuzz simulate image-clickhouse test-containers test-cluster test-replicas landed picture image release bench bench-small bench-cluster bench-go bench-json clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## make a demonstration account, load it and serve it
	bin/adlens demo

build: node_modules/.package-lock.json ## build bin/adlens, ready to run
	$(GO) build -ldflags "-X main.version=$(version)" -o bin/adlens ./cmd/adlens
	@rm -rf bin/template-* # data directories that tests made with the one before

engine: ## fetch the embedded ClickHouse, again if it is damaged
	npm ci --no-progress
	@touch node_modules/.package-lock.json

node_modules/.package-lock.json: package.json package-lock.json
	$(MAKE) engine

# Those whose tests take longest begin first, so that none is left alone at the end.
longest = ./integration/faults ./integration/cluster ./integration/freshness ./loader ./internal/clickhouse ./integration/figures ./integration/backup

# What tests need from the registry of npm.
modules: node_modules/.package-lock.json integration/browser/node_modules/.package-lock.json integration/protocol/node_modules/.package-lock.json integration/recipes/node_modules/.package-lock.json integration/recipes/n8n/node_modules/.package-lock.json

test: build lint modules ## run every test
	ADLENS_BIN=$(CURDIR)/bin/adlens $(GO) test -vet=off -timeout 80m $(longest) ./... # lint has vetted them

# Where releases go, and for what they are built. The engine's library is pinned,
# and bundled, for linux-amd64 alone; elsewhere --clickhouse is needed.
RELEASE ?= bin/release
PLATFORMS ?= linux-amd64 linux-arm64 darwin-arm64
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
COMPRESS ?= gzip -n -6
commit ?= $(shell git rev-parse HEAD 2>/dev/null)
name = adlens-$(version)-$*

release: $(PLATFORMS:%=release-of-%) ## archives of this version with parts lists and checksums, the same to the byte wherever they are built
	cd $(RELEASE) && sha256sum adlens-$(version)-*.tar.gz adlens-$(version)-*.cdx.json > SHA256SUMS

release-of-%: staged-%
	tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime=@$(SOURCE_DATE_EPOCH) --hard-dereference \
	  -C $(RELEASE) -cf - $(name) | $(COMPRESS) > $(RELEASE)/$(name).tar.gz
	cp $(RELEASE)/$(name)/adlens.cdx.json $(RELEASE)/$(name).cdx.json
	rm -rf $(RELEASE)/$(name)

# By name: where they are used, files with secrets lie beside them.
deployed := $(addprefix deploy/compose/,cluster.yaml haproxy.cfg logs.xml one.yaml replicas.yaml shards.xml) \
  deploy/kubernetes/embedded.yaml deploy/kubernetes/replicas.yaml deploy/systemd/adlens.service

# What a release for a platform unpacks to.
staged-%:
	rm -rf $(RELEASE)/$(name) && mkdir -p $(RELEASE)/$(name)
	GOOS=$(firstword $(subst -, ,$*)) GOARCH=$(lastword $(subst -, ,$*)) $(GO) build -buildvcs=false \
	  -ldflags "-s -w -buildid= -X main.version=$(version) -X main.commit=$(commit)" -o $(RELEASE)/$(name)/adlens ./cmd/adlens
	cp -r README.md CHANGELOG.md CONTRIBUTING.md Dockerfile docs $(RELEASE)/$(name)/
	mkdir -p $(RELEASE)/$(name)/deploy/data $(RELEASE)/$(name)/bench $(RELEASE)/$(name)/integration
	cp --parents $(deployed) $(RELEASE)/$(name)/
	cp -r bench/results $(RELEASE)/$(name)/bench/ && cp integration/README.md $(RELEASE)/$(name)/integration/
	$(if $(filter linux-amd64,$*),test -e $(library) || $(MAKE) engine)
	$(if $(filter linux-amd64,$*),ln -L $(library) $(RELEASE)/$(name)/ 2>/dev/null || cp -L $(library) $(RELEASE)/$(name)/)
	$(GO) tool -modfile=tools/go.mod cyclonedx-gomod bin -json -std -noserial -notimestamp -version $(version) \
	  -output $(RELEASE)/$(name)/adlens.cdx.json $(RELEASE)/$(name)/adlens
	$(GO) run ./deploy/bundled -program $(RELEASE)/$(name)/adlens -notices $(RELEASE)/$(name)/NOTICES \
	  -parts $(RELEASE)/$(name)/adlens.cdx.json $(if $(filter linux-amd64,$*),-engine)

# An image to build on; the Dockerfile's where empty.
BASE ?=

image: staged-linux-amd64 ## the image of adlens, of a release; BASE=image to build on another one
	docker build $(if $(BASE),--build-arg BASE=$(BASE)) --tag adlens $(RELEASE)/adlens-$(version)-linux-amd64
	rm -rf $(RELEASE)/adlens-$(version)-linux-amd64

# What `make test-containers` runs: all that a server may do otherwise than the
# engine. RUN=. runs everything.
RUN ?= ^Test(Scripts|EveryAnswerIsTheOracles|ReadersSeeTheOld|NoKillLosesOrTears|TwoLoadersAtOnce|TheRequestBeyond|TheDaysCount|WhoGuesses|ARolling|ReplicasThat|EveryReplica|ThreeReplicas|ALostReplica)

# The packages of tests that any store may be given to. One at a time: each
# starts its own servers.
suites = $(patsubst %/main_test.go,./%,$(filter-out integration/browser/% integration/protocol/% integration/recipes/%,$(wildcard integration/*/main_test.go)))

test-containers: store = container
test-containers: build ## run the integration tests on a ClickHouse server in a container
test-cluster: store = cluster
test-cluster: build ## the same on the two shards of a cluster
test-replicas: store = replicas
test-replicas: build ## the same on the three replicas of a shard
test-containers test-cluster test-replicas:
	ADLENS_BIN=$(CURDIR)/bin/adlens ADLENS_TEST_STORE=$(store) $(GO) test -vet=off -timeout 60m -run '$(RUN)' -p 1 $(suites)

picture: build integration/browser/node_modules/.package-lock.json ## the picture of the page that the README shows
	ADLENS_BIN=$(CURDIR)/bin/adlens ADLENS_TEST_PICTURES=$(CURDIR)/docs $(GO) test -count=1 -run '^TestThePictureOfThePage$$' ./integration/browser

# The newest step of the schema names what a version leaves.
landed: build ## keep what this version leaves behind, which every later one has to open; for a version that was just released
	ADLENS_BIN=$(CURDIR)/bin/adlens ADLENS_TEST_LANDED=$(CURDIR)/integration/faults/testdata/landed/schema-$(shell ls schema/0*.sql | wc -l) \
	  $(GO) test -count=1 -run '^TestLeaveWhatALandedVersionLeaves$$' ./integration/faults

lint: ## gofmt, go vet, staticcheck, govulncheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	@if [ -n "$(VULNDB)" ]; then $(GO) tool -modfile=tools/go.mod govulncheck -db "$(VULNDB)" ./...; \
	elif curl -sfI --max-time 5 https://vuln.go.dev/index/modules.json >/dev/null 2>&1; then $(GO) tool -modfile=tools/go.mod govulncheck ./...; \
	else echo "govulncheck: left out, its database cannot be reached from here"; fi

fuzz: ## fuzz the parsers, half a minute each
	for target in FuzzParseAmount FuzzParseDay; do $(GO) test -run '^$$' -fuzz $$target -fuzztime 30s . || exit 1; done
	$(GO) test -run '^$$' -fuzz FuzzZoneAcceptsOnlyListedNames -fuzztime 30s ./internal/query/period
	$(GO) test -run '^$$' -fuzz FuzzRead -fuzztime 30s ./internal/ecb
	$(GO) test -run '^$$' -fuzz FuzzParseKeyAcceptsOnlyWellFormedKeys -fuzztime 30s ./internal/auth
	$(GO) test -run '^$$' -fuzz FuzzCleanText -fuzztime 30s ./internal/assistant
	for target in FuzzCleanText FuzzMatchRedirectIsExact; do $(GO) test -run '^$$' -fuzz $$target -fuzztime 30s ./internal/oauth || exit 1; done
	for target in FuzzDecodeNeverLosesAParameter FuzzSavedViews; do $(GO) test -run '^$$' -fuzz $$target -fuzztime 30s ./internal/answer || exit 1; done
	$(GO) test -run '^$$' -fuzz FuzzGuard -fuzztime 30s ./internal/formats
	$(GO) test -run '^$$' -fuzz FuzzCells -fuzztime 30s ./internal/backup
	for target in FuzzParseSummary FuzzParseTimeline FuzzParseProducts FuzzParseReport; do $(GO) test -run '^$$' -fuzz $$target -fuzztime 30s -fuzzminimizetime 10x ./internal/query || exit 1; done
	for target in FuzzRows FuzzRowsAsBefore FuzzReport FuzzProfiles FuzzExport FuzzLists; do $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime 30s ./internal/platform || exit 1; done
	for target in FuzzReports FuzzMeantNumbers; do $(GO) test -run '^$$' -fuzz $$target -fuzztime 30s -fuzzminimizetime 10x ./internal/platform/console || exit 1; done
	for target in FuzzRules FuzzRuns FuzzActivity; do $(GO) test -run '^$$' -fuzz $$target -fuzztime 30s ./internal/records || exit 1; done
	for target in FuzzRates FuzzTitles; do $(GO) test -run '^$$' -fuzz $$target -fuzztime 30s ./loader || exit 1; done

# How many seeds, and the first of them.
SEEDS ?= 100000
FROM ?= 0

simulate: ## run loads on a model of the store that fails in every way; SEEDS=100000 FROM=0
	$(GO) test -count=1 -timeout 24h -run '^TestNoSeedFindsAFault$$' -v ./internal/simulation -seeds $(SEEDS) -from $(FROM)

image-clickhouse: build ## a ClickHouse server as an image, made of the embedded engine, for tests where none can be pulled
	rm -rf bin/clickhouse-image && mkdir -p bin/clickhouse-image/root
	integration/clickhouse-image/libraries bin/clickhouse-image/root
	$(GO) build -trimpath -o bin/clickhouse-image/clickhouse-image ./integration/clickhouse-image
	ln -L $(library) bin/clickhouse-image/libchdb.so 2>/dev/null || cp -L $(library) bin/clickhouse-image/libchdb.so
	docker build --quiet --tag adlens-clickhouse --file integration/clickhouse-image/Dockerfile bin/clickhouse-image
	rm -rf bin/clickhouse-image

bench: build bench/duckdb/node_modules/.package-lock.json ## compare with peers: 100 million rows; takes about an hour (docs/benchmarks.md)
	$(GO) run ./bench -rows 100000000 -small-accounts 200 -rounds 15 -budget 1s -clients 5s $(BENCH)

bench-small: build bench/duckdb/node_modules/.package-lock.json ## the same with 6 million rows, in minutes
	$(GO) run ./bench $(BENCH)

bench/duckdb/node_modules/.package-lock.json: bench/duckdb/package.json bench/duckdb/package-lock.json
	cd bench/duckdb && npm install --no-save --no-progress && touch node_modules/.package-lock.json || echo "DuckDB cannot be fetched and is left out"

bench-cluster: build ## compare two shards with one server, in containers
	ADLENS_BIN=$(CURDIR)/bin/adlens $(GO) test -run '^$$' -bench TwoShards -benchtime 500x ./integration/cluster

bench-go: build ## measure decoding and summing of a report, and a call of an assistant beside its request
	$(GO) test -run '^$$' -bench . -benchmem ./internal/platform ./loader
	ADLENS_BIN=$(CURDIR)/bin/adlens $(GO) test -run '^$$' -bench . ./integration/assistant

bench-json: ## compare the reader of rows with other JSON decoders, on the same bytes
	cd internal/platform/jsonbench && $(GO) test -run '^$$' -bench . -benchmem .

integration/browser/node_modules/.package-lock.json: integration/browser/package.json integration/browser/package-lock.json
	cd integration/browser && npm ci --no-progress && touch node_modules/.package-lock.json

integration/recipes/node_modules/.package-lock.json: integration/recipes/package.json integration/recipes/package-lock.json
	cd integration/recipes && npm ci --no-progress && touch node_modules/.package-lock.json

integration/recipes/n8n/node_modules/.package-lock.json: integration/recipes/n8n/package.json integration/recipes/n8n/package-lock.json
	cd integration/recipes/n8n && npm ci --no-progress && touch node_modules/.package-lock.json

integration/protocol/node_modules/.package-lock.json: integration/protocol/package.json integration/protocol/package-lock.json
	cd integration/protocol && npm ci --no-progress && touch node_modules/.package-lock.json

clean: ## remove what was built; data directories stay
	rm -rf bin node_modules bench/duckdb/node_modules integration/browser/node_modules integration/protocol/node_modules integration/recipes/node_modules integration/recipes/n8n/node_modules integration/clients/*/node_modules integration/clients/typescript/built
	rm -f integration/clients/*/openapi.json integration/clients/*/json.json integration/clients/go/generated.go integration/clients/typescript/adlens.d.ts integration/clients/typescript/documented.ts
