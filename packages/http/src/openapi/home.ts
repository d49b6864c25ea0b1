/** The page at `/`: what this server is, and where to go from here. No script, no request for anything else. */
import { createHash } from "node:crypto"
import { escaped, table } from "./html.ts"

/** Content of the home page. */
export interface Home {
  readonly version: string
  /** True when callers without a token may read: the demo. */
  readonly isDemo: boolean
  /** Where the API is mounted; empty at the root. */
  readonly prefix: string
}

const style = `
:root { color-scheme: light dark; --line: #8886; --link: #1558b0; }
@media (prefers-color-scheme: dark) { :root { --link: #8ab8ff; } }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1.5rem; font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); }
code { font: .875em ui-monospace, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .375rem .5rem; border-bottom: 1px solid var(--line); }
`

/** The Content-Security-Policy of the page: its own style sheet by its digest, and nothing else from anywhere. */
export const HOME_POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; ` +
  "form-action 'none'; frame-ancestors 'none'"

/** Links of every server. */
const always: ReadonlyArray<readonly [path: string, says: string]> = [
  ["/docs", "the API reference"],
  ["/openapi.json", "the same for programs (OpenAPI 3.1)"],
  ["/healthz", "whether the store answers and takes writes; for load balancers"],
  ["/api/v1/chain/head", "the size and root of the record chain; needs a token"]
]

/** Paths that visitors of the demo can read without a token. */
const demo: ReadonlyArray<readonly [path: string, says: string]> = [
  ["/api/v1/agents", "three agents from public traces"],
  ["/api/v1/chain/records?limit=20", "the first records of the chain"],
  ["/api/v1/evidence/packs", "evidence packs; download one and check it with flyball-verify"],
  ["/api/v1/register/_meta", "every value that a member can have"]
]

const linksOf = (links: typeof always, prefix: string): string =>
  table(
    ["address", "what it is"],
    links.map(([path, says]) => [
      `<a href="${escaped(prefix + path)}"><code>${escaped(prefix + path)}</code></a>`,
      escaped(says)
    ])
  )

const tryIt = (prefix: string): string =>
  "<h2>Try it</h2>\n<p>This is a demo. Everybody reads all of it without a token, and nobody can write.</p>\n" +
  `${linksOf(demo, prefix)}\n`

const tokens = (prefix: string): string =>
  "<p>Requests need a bearer token: of your OpenID provider for people, an ingest key for agents. " +
  `<code>GET ${escaped(prefix)}/api/v1/me</code> says what a token may do.</p>`

/** The page. */
export const homePage = ({ isDemo, prefix, version }: Home): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Flyball ${escaped(version)}</title>
<style>${style}</style>
</head>
<body>
<h1>Flyball ${escaped(version)}</h1>
<p>The governor for autonomous software agents: it bounds what agents may do alone, records what they decided in a
tamper-evident chain, and exports evidence that an outsider verifies offline.</p>
${isDemo ? tryIt(prefix) : ""}<h2>This server</h2>
${linksOf(always, prefix)}
${isDemo ? "" : tokens(prefix)}
</body>
</html>
`
