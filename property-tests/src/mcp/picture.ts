/**
 * The picture of docs/mcp-screen.md: the tools that changed in 35 releases of a real server, by what their change is.
 * `node property-tests/src/mcp/picture.ts` writes it.
 */
import { canonicalize, inOneGo, utf8 } from "@flyball/evidence"
import { readFileSync, writeFileSync } from "node:fs"
import { changesOf } from "../../../packages/rules/src/mcp/diff.ts"
import { type ManifestDigests, readManifest } from "../../../packages/rules/src/mcp/manifest.ts"

/** Where the picture is. */
export const pictureFile: URL = new URL("../../../docs/mcp-screen.svg", import.meta.url)

const file = new URL("../../../fixtures/mcp-manifests/github_mcp_server_v0.6-v0.30.json", import.meta.url)
const github: {
  readonly releases: ReadonlyArray<{ readonly tag: string; readonly tools: { readonly [name: string]: string } }>
  readonly blobs: { readonly [id: string]: string }
} = JSON.parse(readFileSync(file, "utf8"))

/** Kinds of changes, quiet ones first. */
const kinds = [
  { name: "bytes alone: quiet", color: "#c9ccd1" },
  { name: "defaults of MCP spelled out: quiet", color: "#9aa5b1" },
  { name: "hints or decoration: low", color: "#e0a83c" },
  { name: "text or contract: medium", color: "#b3261e" }
] as const

const digestsOf = (ids: ReadonlyArray<string>): ManifestDigests =>
  inOneGo(readManifest(utf8(JSON.stringify({ tools: ids.map((id) => JSON.parse(github.blobs[id]!)) })))).digests

/** Tools that changed from one release to the next, by kind. */
const countsOf = (at: number): ReadonlyArray<number> => {
  const [before, after] = [github.releases[at - 1]!.tools, github.releases[at]!.tools]
  const counts = kinds.map(() => 0)
  for (const name of Object.keys(after).filter((one) => one in before && before[one] !== after[one])) {
    const [then, now] = [before[name]!, after[name]!]
    const [change] = changesOf(digestsOf([then]), digestsOf([now]))
    const sameForm = canonicalize(JSON.parse(github.blobs[then]!)) === canonicalize(JSON.parse(github.blobs[now]!))
    const isRead = change?.layers.some((layer) => layer === "text" || layer === "contract") === true
    counts[change === undefined ? (sameForm ? 0 : 1) : isRead ? 3 : 2]!++
  }
  return counts
}

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM, MOST] = [720, 320, 46, 20, 60, 100]
const y = (tools: number): number => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * tools) / MOST

/** The picture as SVG. */
export const mcpPicture = (): string => {
  const bars = github.releases.slice(1).flatMap(({ tag }, index) => {
    const x = LEFT + 8 + index * 18.8
    let below = 0
    const parts = countsOf(index + 1).map((count, kind) => {
      const [from, to] = [below, (below += count)]
      const top = y(to).toFixed(1)
      return count === 0
        ? ""
        : `<rect x="${x.toFixed(1)}" y="${top}" width="13" height="${(y(from) - y(to)).toFixed(1)}" ` +
            `fill="${kinds[kind]!.color}"/>`
    })
    const place = `translate(${(x + 10).toFixed(1)} ${HEIGHT - BOTTOM + 8}) rotate(-90)`
    return [...parts.filter((part) => part !== ""), `<text transform="${place}" text-anchor="end">${tag}</text>`]
  })
  const axis = [0, 25, 50, 75, 100].map(
    (tools) =>
      `<text x="${LEFT - 6}" y="${y(tools) + 4}" text-anchor="end">${tools}</text>` +
      `<line x1="${LEFT}" x2="${WIDTH - 10}" y1="${y(tools)}" y2="${y(tools)}" stroke="#e4e6e9"/>`
  )
  const legend = kinds.map(
    ({ color, name }, at) =>
      `<rect x="${LEFT + 20}" y="${TOP + 8 + 18 * at}" width="11" height="11" fill="${color}"/>` +
      `<text x="${LEFT + 37}" y="${TOP + 18 + 18 * at}" font-size="12">${name}</text>`
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="10">`,
    "<title>Tools that changed in 35 releases of a real server</title>",
    ...axis,
    ...bars,
    ...legend,
    "</svg>",
    ""
  ].join("\n")
}

if (import.meta.main) writeFileSync(pictureFile, mcpPicture())
