/**
 * Reads the list of tools of an MCP server into digests, one a tool and layer: what the model reads, what it may send,
 * what the tool says of its effects, and the rest. Service and verifier run it.
 *
 * Spec: drift-fairness-mcp.md 4.3; decision 0072.
 */
import { mcpLayers as manifestLayers } from "@flyball/evidence/words"
import {
  canonicalBytes,
  type Crypto,
  portableCrypto,
  readJson,
  rootOfHashes,
  type Slices,
  toHex,
  utf8
} from "@flyball/evidence"
import type { Json, JsonMap } from "../records/record.ts"

export { manifestLayers }

/** Longest list that is read. Unit: bytes of its JSON. */
export const MAX_MANIFEST_BYTES = 2_097_152
/** Most tools of a list that is read. */
export const MAX_MANIFEST_TOOLS = 10_000
/** Containers that may be open at once in a list. */
const MAX_DEPTH = 64
/** Longest name of a tool. Unit: UTF-16 code units. */
const MAX_NAME = 256
/** Tools that one slice reads. */
const PER_SLICE = 16

/** One of {@link manifestLayers}. */
export type ManifestLayer = (typeof manifestLayers)[number]

/** Why a list is not read: it is no list of tools, or over a bound. */
export const unreadReasons = ["shape", "too_large", "too_many_tools", "too_deep", "inexact"] as const

/** One of {@link unreadReasons}. */
export type UnreadReason = (typeof unreadReasons)[number]

/**
 * A tool's layers: SHA-256 in hex, but `hints`, which is four letters of what its annotations mean with the defaults of
 * MCP: `R` read-only or `w`, `D` destructive or `d`, `I` idempotent or `i` (`-` for both where it is read-only), `O`
 * open world or `o`.
 */
export interface ToolDigests {
  /** As the server says it; the second tool of one name has `#2` behind it. */
  readonly name: string
  readonly text: string
  readonly contract: string
  readonly hints: string
  readonly decoration: string
}

/** The digests of a list: those of its tools in the order of their names, and that of the server's instructions. */
export interface ManifestDigests {
  readonly server: string
  readonly tools: ReadonlyArray<ToolDigests>
}

/** A list that was read. */
export interface Manifest {
  readonly digests: ManifestDigests
  /** RFC 6962 root over the server's digest and those of the tools. Hex. */
  readonly root: string
  /** Names that more than one tool has. */
  readonly duplicates: ReadonlyArray<string>
  /** The tools as sent, by the name in {@link ToolDigests}. */
  readonly values: ReadonlyMap<string, JsonMap>
  readonly instructions: string
  /** Null where it was read. */
  readonly unread: UnreadReason | null
}

type Sha256 = Crypto["sha256"]

/**
 * Reads a list: JSON `{instructions?, tools}`. One that cannot be read has no tools, and a root over its bytes. Never
 * throws.
 */
export function* readManifest(bytes: Uint8Array, sha256: Sha256 = portableCrypto.sha256): Slices<Manifest> {
  const unread = (reason: UnreadReason): Manifest => ({
    digests: { server: "", tools: [] },
    root: toHex(sha256(prefixed(`unread ${reason}`, bytes))),
    duplicates: [],
    values: new Map(),
    instructions: "",
    unread: reason
  })
  if (bytes.length > MAX_MANIFEST_BYTES) return unread("too_large")
  const read = readJson(bytes, { maxDepth: MAX_DEPTH })
  if (!read.ok) return unread(read.reason === "depth" ? "too_deep" : "shape")
  const { instructions = "", tools } = (isMap(read.value) ? read.value : {}) as JsonMap
  if (!Array.isArray(tools) || typeof instructions !== "string") return unread("shape")
  if (tools.length > MAX_MANIFEST_TOOLS) return unread("too_many_tools")
  if (!tools.every(isTool)) return unread("shape")
  const values = new Map<string, JsonMap>()
  const duplicates = new Set<string>()
  const all: Array<ToolDigests> = []
  try {
    for (const [index, tool] of (tools as ReadonlyArray<JsonMap & { readonly name: string }>).entries()) {
      if (index % PER_SLICE === PER_SLICE - 1) yield
      let name = tool.name
      if (values.has(name)) duplicates.add(name)
      for (let nth = 2; values.has(name); nth++) name = `${tool.name}#${nth}`
      values.set(name, tool)
      all.push(digestsOf(name, tool, sha256))
    }
    const digests = { server: layer("server", instructions, sha256), tools: all.toSorted(byName) }
    return {
      digests,
      root: rootOf(digests, sha256),
      duplicates: [...duplicates].toSorted(),
      values,
      instructions,
      unread: null
    }
  } catch {
    return unread("inexact")
  }
}

/** The root over a list's digests. */
export const rootOf = ({ server, tools }: ManifestDigests, sha256: Sha256 = portableCrypto.sha256): string =>
  toHex(
    rootOfHashes(portableCrypto, [sha256(prefixed("server", utf8(server))), ...tools.map((one) => leafOf(one, sha256))])
  )

/** The digest of a tool: of its name and its layers. Hex. */
export const toolDigest = (one: ToolDigests, sha256: Sha256 = portableCrypto.sha256): string =>
  toHex(leafOf(one, sha256))

const leafOf = ({ contract, decoration, hints, name, text }: ToolDigests, sha256: Sha256): Uint8Array =>
  sha256(prefixed("tool", canonicalBytes([name, text, contract, hints, decoration])))

/** The digests as the part `digests` has them. */
export const digestsOut = ({ server, tools }: ManifestDigests): JsonMap => ({
  server,
  tools: tools.map(({ contract, decoration, hints, name, text }) => [name, text, contract, hints, decoration])
})

/** The digests of a part `digests`; null where it is not as a service writes it. */
export const readDigests = ({ server, tools }: JsonMap): ManifestDigests | null => {
  if (typeof server !== "string" || !Array.isArray(tools) || tools.length > MAX_MANIFEST_TOOLS) return null
  const read = (tools as ReadonlyArray<Json>).map((one): ToolDigests | null => {
    if (!Array.isArray(one) || one.length !== 5 || !one.every((member) => typeof member === "string")) return null
    const [name, text, contract, hints, decoration] = one as ReadonlyArray<string>
    return { name: name!, text: text!, contract: contract!, hints: hints!, decoration: decoration! }
  })
  return read.includes(null) ? null : { server, tools: read as ReadonlyArray<ToolDigests> }
}

const isTool = (tool: Json): boolean =>
  isMap(tool) && typeof tool["name"] === "string" && tool["name"] !== "" && tool["name"].length <= MAX_NAME

const byName = (a: ToolDigests, b: ToolDigests): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

const prefixed = (domain: string, bytes: Uint8Array): Uint8Array => {
  const label = utf8(`flyball/v1 mcp ${domain}\0`)
  const all = new Uint8Array(label.length + bytes.length)
  all.set(label)
  all.set(bytes, label.length)
  return all
}

const layer = (name: string, value: Json, sha256: Sha256): string =>
  toHex(sha256(prefixed(name, canonicalBytes(value))))

/** Members of a tool that have a layer of their own; the others are its decoration. */
const known: ReadonlySet<string> = new Set([
  "name",
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations"
])
const knownHints: ReadonlySet<string> = new Set([
  "title",
  "readOnlyHint",
  "destructiveHint",
  "idempotentHint",
  "openWorldHint"
])

const digestsOf = (name: string, tool: JsonMap, sha256: Sha256): ToolDigests => {
  const texts: Array<readonly [string, string]> = []
  const annotations = mapOf(tool["annotations"])
  for (const [at, text] of [
    ["/title", tool["title"]],
    ["/description", tool["description"]],
    ["/annotations/title", annotations["title"]]
  ] as const)
    if (typeof text === "string") texts.push([at, text])
  const contract = ["inputSchema", "outputSchema"].map((member) =>
    contractOf(tool[member] ?? null, `/${member}`, texts)
  )
  const rest = (of: JsonMap, named: ReadonlySet<string>): JsonMap =>
    Object.fromEntries(Object.entries(of).filter(([member, value]) => !named.has(member) && value !== null))
  return {
    name,
    text: layer(
      "text",
      texts.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      sha256
    ),
    contract: layer("contract", contract, sha256),
    hints: hintsOf(annotations),
    decoration: layer("decoration", [rest(tool, known), rest(annotations, knownHints)], sha256)
  }
}

/** Reads annotations with MCP's defaults, under which two of them mean nothing where the tool is read-only. */
const hintsOf = (annotations: JsonMap): string => {
  const isReadOnly = annotations["readOnlyHint"] === true
  const destructive = annotations["destructiveHint"] === false ? "d" : "D"
  const idempotent = annotations["idempotentHint"] === true ? "I" : "i"
  return `${isReadOnly ? "R--" : `w${destructive}${idempotent}`}${annotations["openWorldHint"] === false ? "o" : "O"}`
}

/** Members of a schema that a model reads and no validator. */
const textMembers: ReadonlySet<string> = new Set(["title", "description", "$comment"])
/** Members whose texts a model reads, and whose shape counts for the contract. */
const valueMembers: ReadonlySet<string> = new Set(["default", "enum", "const", "examples"])
/** Members whose members have names of the author's, and are schemas. */
const namedSchemas: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas"
])
/** Arrays of which the order means nothing. */
const sets: ReadonlySet<string> = new Set(["required", "type"])

/** A schema without its texts, which go to `texts` with their places. */
const contractOf = (schema: Json, at: string, texts: Array<readonly [string, string]>): Json => {
  if (Array.isArray(schema))
    return (schema as ReadonlyArray<Json>).map((one, index) => contractOf(one, `${at}/${index}`, texts))
  if (!isMap(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([member, value]): ReadonlyArray<readonly [string, Json]> => {
      const place = `${at}/${pointed(member)}`
      if (textMembers.has(member) && typeof value === "string") {
        texts.push([place, value])
        return []
      }
      if (valueMembers.has(member)) return [[member, withoutTexts(value, place, texts)]]
      if (sets.has(member) && Array.isArray(value)) return [[member, value.toSorted(byText)]]
      if (!namedSchemas.has(member) || !isMap(value)) return [[member, contractOf(value, place, texts)]]
      const inner = Object.entries(value).map(([name, one]) => [
        name,
        contractOf(one, `${place}/${pointed(name)}`, texts)
      ])
      return [[member, Object.fromEntries(inner) as JsonMap]]
    })
  )
}

/** A value with null in place of its texts, which go to `texts` with their places. */
const withoutTexts = (value: Json, at: string, texts: Array<readonly [string, string]>): Json => {
  if (typeof value === "string") {
    texts.push([at, value])
    return null
  }
  if (Array.isArray(value))
    return (value as ReadonlyArray<Json>).map((one, index) => withoutTexts(one, `${at}/${index}`, texts))
  if (!isMap(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([member, one]) => [member, withoutTexts(one, `${at}/${pointed(member)}`, texts)])
  )
}

const byText = (a: Json, b: Json): number => (String(a) < String(b) ? -1 : 1)

/** A member's name in a JSON pointer. Spec: RFC 6901. */
export const pointed = (member: string): string => member.replaceAll("~", "~0").replaceAll("/", "~1")

/** True for a JSON object. */
export const isMap = (value: unknown): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The object; an empty one for anything else. */
export const mapOf = (value: unknown): JsonMap => (isMap(value) ? value : {})
