# The flyball server as an image: docker build -t flyball .   How to run it: docs/install.md.
#
# Both stages start from one image. Its tag is the Node that package.json pins, and a test holds the two together. To pin the bytes too, put the digest behind
# the tag (node:24.21.0-bookworm-slim@sha256:…); `docker buildx imagetools inspect node:24.21.0-bookworm-slim` prints it.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
# .dockerignore lets through what the build reads, and nothing else: no data folder, no key, no tests' fixtures.
COPY . .
# Nothing of others runs while it is installed (--ignore-scripts); our own build is named. Joined, the server needs no package and no source (decision 0014).
RUN npm ci --ignore-scripts --no-audit --no-fund \
 && npm run build -- --apps \
 && cp -r apps/server/dist /out \
 && cp apps/verify/dist/flyball-verify.mjs /out/ \
 && cp NOTICE /out/ \
 && cp fixtures/traces/LICENSES.txt /out/demo/

FROM ${NODE_IMAGE}
# The image's own Node runs the server. The one that npm brings is the same version and stays behind in the first stage, with everything else under
# node_modules: two of one thing would be a hundred megabytes, and a second place to patch. npm and yarn go too, for nothing is installed here.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn-v* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg \
 && groupadd --system --gid 10001 flyball \
 && useradd --system --uid 10001 --gid flyball --no-create-home --home-dir /var/lib/flyball --shell /usr/sbin/nologin flyball \
 && install -d -m 0700 -o flyball -g flyball /var/lib/flyball \
 && printf '#!/bin/sh\nexec node /opt/flyball/main.js "$@"\n' > /usr/local/bin/flyball \
 && printf '#!/bin/sh\nexec node /opt/flyball/flyball-verify.mjs "$@"\n' > /usr/local/bin/flyball-verify \
 && chmod 0755 /usr/local/bin/flyball /usr/local/bin/flyball-verify
COPY --from=build /out /opt/flyball
# 0.0.0.0, because loopback inside a container reaches nobody. The server refuses that without FLYBALL_OIDC_ISSUER, and says so: set it, or nothing starts.
ENV FLYBALL_HOST=0.0.0.0 FLYBALL_DATA_DIR=/var/lib/flyball
WORKDIR /var/lib/flyball
# A number, so that Kubernetes can see that it is not root.
USER 10001:10001
# Signing key, signing guard, and the SQLite store where there is one. A local disk with hard links: no network share.
VOLUME ["/var/lib/flyball"]
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.FLYBALL_PORT || 8787) + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# No tini: the server is one process that starts no other, so there is nothing to reap, and it listens for SIGTERM itself. Other commands do not listen for it
# all; run those with `docker exec`, or with `docker run --init`.
ENTRYPOINT ["node", "/opt/flyball/main.js"]
CMD ["serve"]
