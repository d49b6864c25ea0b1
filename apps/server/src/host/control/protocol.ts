/**
 * The protocol of the control socket: one request and one answer, each a line of JSON. The socket lies in the data
 * folder, and its mode lets only the server's account in, which can read the signing key too.
 */
import { decode, killResponses, MappingIn, PlatformKeyCreate } from "@flyball/contract"
import { isRecoveryReason, MAX_REASON } from "@flyball/core"
import { readJson, utf8 } from "@flyball/evidence"
import { Result, Schema } from "effect"
import { join, relative, resolve } from "node:path"
import type { Settings } from "../../settings/read.ts"

/** Longest request. Unit: characters. An access mapping of a thousand rules in any script has room. */
export const MAX_REQUEST = 4 * 1_048_576

/** Longest path of a socket that every system takes. Unit: bytes. */
const MAX_PATH = 103

const word = (max: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(max))
const reason = Schema.String.check(
  Schema.makeFilter((text: string) => isRecoveryReason(text) || `expected 1 to ${MAX_REASON} visible characters`)
)

/** The target of a halt as an operator named it. */
const Named = Schema.Union([
  Schema.Struct({ type: Schema.Literal("agent"), agent: word(1_000) }),
  Schema.Struct({ type: Schema.Literal("model"), model: word(1_000) }),
  Schema.Struct({ type: Schema.Literal("org_unit"), orgUnit: word(1_000) }),
  Schema.Struct({ type: Schema.Literal("deployment") })
])

/** Everything that the socket does. */
const HostAct = Schema.Union([
  Schema.Struct({
    command: Schema.Literal("halt"),
    named: Named,
    response: Schema.Literals(killResponses),
    reason,
    json: Schema.Boolean
  }),
  Schema.Struct({ command: Schema.Literal("release"), id: word(1_000), reason, json: Schema.Boolean }),
  Schema.Struct({ command: Schema.Literal("mapping"), mapping: MappingIn }),
  Schema.Struct({ command: Schema.Literal("platform_key_mint"), key: PlatformKeyCreate }),
  Schema.Struct({ command: Schema.Literal("platform_key_revoke"), id: word(1_000) }),
  Schema.Struct({ command: Schema.Literal("rotate_key") }),
  Schema.Struct({ command: Schema.Literal("checkpoint") })
])
/** An act of the operator at the host. */
export type HostAct = typeof HostAct.Type

/** `store`: the file that the command means. A server that writes another refuses. */
const ControlRequest = Schema.Struct({ v: Schema.Literal(1), store: word(10_000), act: HostAct })
export type ControlRequest = typeof ControlRequest.Type

/** Answer: the printed text, or the error sentence. `other_store`: this server writes another file. */
export type ControlAnswer = { readonly out: string } | { readonly failed: string } | { readonly other_store: true }

const decodeRequest = decode(ControlRequest)

/** A request; null where the line is none, or has a member twice or that no request has. */
export const requestIn = (line: string): ControlRequest | null => {
  const read = readJson(utf8(line))
  return read.ok ? Result.getOrNull(decodeRequest(read.value, "body")) : null
}

/** The file of the SQLite store, as both sides name it; null where the store is none. */
export const storeNamed = ({ database }: Pick<Settings, "database">): string | null =>
  database.kind === "sqlite" ? resolve(database.file) : null

/** Where the socket is; null where no path to it is short enough for one. */
export const controlPath = ({ dataDir }: Pick<Settings, "dataDir">): string | null => {
  const path = resolve(join(dataDir, "control.sock"))
  return [path, relative(process.cwd(), path)].find((one) => Buffer.byteLength(one) <= MAX_PATH) ?? null
}
