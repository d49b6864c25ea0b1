/** The bodies of the three kinds of record that a verifier reads. Spec: format 1 sections 1, 3, 4 and 6. */
import type { JsonObject, JsonValue } from "../../json/value.ts"
import type { Vkey } from "../../note/vkey.ts"
import { parseVkey } from "../../note/vkey.ts"
import { PART_NAME } from "./fields.ts"

/** A valid body, or what was expected and found instead. */
export type Body<A> =
  | { readonly ok: true; readonly body: A }
  | {
      readonly ok: false
      readonly code: "E_NONCANONICAL" | "E_VERSION" | "E_ORIGIN"
      readonly expected: string
      readonly found: string
    }

/** `chain.genesis`: the hash in use, the origin, the first keys. */
export const readGenesis = (body: JsonObject, origin: string): Body<{ readonly vkeys: ReadonlyArray<Vkey> }> => {
  const { hash, origin: stated, vkeys } = body
  if (!hasExactly(body, "hash,origin,vkeys") || typeof hash !== "string" || typeof stated !== "string")
    return no(GENESIS)
  if (hash !== "sha256-rfc6962") {
    return { ok: false, code: "E_VERSION", expected: "hash sha256-rfc6962", found: "another hash" }
  }
  const keys = readVkeys(vkeys)
  if (keys === null) return no(GENESIS)
  if (stated !== origin) {
    return {
      ok: false,
      code: "E_ORIGIN",
      expected: `a chain that began as ${origin}`,
      found: "another origin in record 0"
    }
  }
  return { ok: true, body: { vkeys: keys } }
}

/** `part.erased`: which part of which record, and why. */
export const readErased = (body: JsonObject): Body<{ readonly name: string; readonly seq: number }> => {
  const { name, reason, seq } = body
  const isPart = typeof name === "string" && PART_NAME.test(name) && typeof seq === "number" && seq >= 0
  return isPart && hasExactly(body, "name,reason,seq") && typeof reason === "string"
    ? { ok: true, body: { name, seq } }
    : no("part.erased with the body {name, reason, seq}")
}

/** `key.rotated`: from which key to which. */
export const readRotated = (body: JsonObject): Body<{ readonly fromKeyId: string; readonly to: Vkey }> => {
  const { from_key_id: fromKeyId, to_vkey: toVkey } = body
  const to = typeof toVkey === "string" ? parseVkey(toVkey) : null
  const isFrom = typeof fromKeyId === "string" && /^[0-9a-f]{8}$/.test(fromKeyId)
  return hasExactly(body, "from_key_id,to_vkey") && isFrom && to !== null && to.ok
    ? { ok: true, body: { fromKeyId, to: to.vkey } }
    : no("key.rotated with the body {from_key_id, to_vkey}")
}

const GENESIS = "chain.genesis with the body {hash, origin, vkeys}"

const no = (expected: string): Body<never> => ({ ok: false, code: "E_NONCANONICAL", expected, found: "another body" })

/** Canonical form already has the names in order. */
const hasExactly = (body: JsonObject, names: string): boolean => Object.keys(body).join() === names

const readVkeys = (value: JsonValue | undefined): ReadonlyArray<Vkey> | null => {
  if (!Array.isArray(value) || value.length === 0) return null
  const vkeys: Array<Vkey> = []
  for (const text of value as ReadonlyArray<JsonValue>) {
    const parsed = typeof text === "string" ? parseVkey(text) : null
    if (parsed === null || !parsed.ok) return null
    vkeys.push(parsed.vkey)
  }
  return vkeys
}
