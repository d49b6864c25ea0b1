/** The parts of records, as a server shows them, and the calls that take them back. */
import { recordKinds } from "@flyball/evidence"
import type { Call, Marker } from "./person.ts"
import { expecting } from "./person.ts"

/** A part of a record. */
export interface PlacedPart {
  readonly seq: number
  /** `<kind>/<name>` */
  readonly place: string
  readonly name: string
  readonly holdsMarker: boolean
}

/** Where the catalogue has a part that no call can put a person's text into, and why. */
export const placesWithoutText: ReadonlyMap<string, string> = new Map([
  ["breaker.armed/good_runs", "ids of runs, which bodies of decisions have too: never erased"],
  ["chain.genesis/previous", "what a chain says of the one before it: digests and signatures, never erased"],
  ["mcp.manifest_seen/mcp_digests", "names and digests of tools, never erased"],
  ["mcp.manifest_changed/mcp_changes", "names and digests of tools, and places in them, never erased"],
  ["chain.genesis/reason", "given on the host when a chain is given up, by no call; a test of its own erases it"],
  ["envelope.published/backtest", "counts and ids of evaluations"],
  ["drill.completed/missed", "ids of instances, which bodies of decisions have too: never erased"],
  ["kill.expected/expected", "ids of instances, which bodies of decisions have too: never erased"],
  ["kill.unconfirmed/instances", "ids of instances, which bodies of decisions have too: never erased"],
  ["execution.finished/outputs", "only an agent's answer fills it; a test of its own erases it"],
  ["analysis.completed/dataset", "a character a row: no text of anybody"],
  ["route_plan.completed/plan", "whole numbers: no text of anybody"],
  ["analysis.failed/dataset", "a character a row: no text of anybody"],
  ["part.erased/authority", "who erased, as a pseudonym: never erased"],
  ["webhook.changed/endpoint", "only PATCH /v1/webhooks/{id} writes it; a test of its own erases it"]
])

/** Every place that the catalogue of kinds has. */
export const allPlaces: ReadonlyArray<string> = recordKinds.flatMap(({ kind, parts }) =>
  parts.map(({ name }) => `${kind}/${name}`)
)

/** The parts of all records, out of a pack that discloses everything. */
export const partsOfChain = async (call: Call, { plain, text }: Marker): Promise<ReadonlyArray<PlacedPart>> => {
  const { id } = await expecting(call)<{ readonly id: string }>(
    "POST",
    "/evidence/packs",
    { kind: "full", disclose: "all" },
    201
  )
  const lines = (await call("GET", `/evidence/packs/${id}`)).text.split("\n")
  const kinds = lines
    .filter((line) => line.startsWith("R "))
    .map((line) => (JSON.parse(line.slice(2)) as { readonly kind: string }).kind)
  return lines
    .filter((line) => line.startsWith("D "))
    .map((line) => {
      const [, seq, name, , bytes = ""] = line.split(" ")
      const content = Buffer.from(bytes, "base64").toString()
      return {
        seq: Number(seq),
        name: name!,
        place: `${kinds[Number(seq)]}/${name}`,
        holdsMarker: content.includes(text) || content.includes(plain)
      }
    })
}

/** Erases these parts. Those of the mapping last: nobody may be anybody behind it. */
export const eraseAll = async (call: Call, parts: ReadonlyArray<PlacedPart>): Promise<void> => {
  const done = expecting(call)
  for (const { name, seq } of parts.toSorted((a, b) => Number(a.name === "mapping") - Number(b.name === "mapping")))
    await done("POST", "/chain/erasures", { seq, name, reason: "subject_request" }, 201)
}
