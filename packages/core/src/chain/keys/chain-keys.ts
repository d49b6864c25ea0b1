/**
 * Which keys sign for the chain, as its records say, and which of them must sign a checkpoint. Spec: chain-format
 * section 4, "Rotation".
 */
import type { Crypto } from "@flyball/evidence"
import { equalBytes, formatVkey, parseVkey, readRecord, toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { StorageCorrupt, StorageUnavailable } from "../../storage/faults.ts"
import type { ReadFault, StorageApi, StoredRecord } from "../../storage/port.ts"
import { readGenesis } from "./genesis.ts"
import { heldKeys, type SignerApi, type SigningKey } from "./signer.ts"

/** A key, and the record that names it: 0 is genesis, every later one a rotation. */
export interface KeySince {
  readonly vkey: string
  readonly seq: number
}

/** A rotation, as the records around it say. */
export interface Rotation {
  /** Of the record `key.rotated`. */
  readonly seq: number
  readonly fromVkey: string
  readonly toVkey: string
}

/** Rotations read at once. */
const PAGE = 1_000

/**
 * Every key that the chain names, the current one last. A rotation that cannot be read is left out here, and listed
 * under `unreadable`.
 */
export const readChainKeys = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto
): Effect.fn.Return<{ readonly keys: ReadonlyArray<KeySince>; readonly unreadable: ReadonlyArray<number> }, ReadFault> {
  const first = yield* storage.record(0)
  if (first === null) return yield* new StorageCorrupt({ reason: "record 0 is missing" })
  const genesis = readGenesis(crypto, first)
  if (typeof genesis === "string") return yield* new StorageCorrupt({ reason: genesis })
  const keys: Array<KeySince> = genesis.vkeys.map((vkey) => ({ vkey, seq: 0 }))
  const unreadable: Array<number> = []
  for (let from = 0; ;) {
    const page = yield* storage.records({ from, kinds: ["key.rotated"], limit: PAGE })
    for (const record of page) {
      const vkey = rotatedTo(crypto, record)
      if (vkey === null) unreadable.push(record.seq)
      else keys.push({ vkey, seq: record.seq })
    }
    if (page.length < PAGE) return { keys, unreadable }
    from = page.at(-1)!.seq + 1
  }
})

/**
 * Every key that the chain names, the current one last. Fails when a rotation cannot be read: who signs from there on
 * is then not known.
 */
export const chainKeys = (storage: StorageApi, crypto: Crypto): Effect.Effect<ReadonlyArray<KeySince>, ReadFault> =>
  Effect.flatMap(readChainKeys(storage, crypto), ({ keys, unreadable }) =>
    unreadable.length === 0
      ? Effect.succeed(keys)
      : Effect.fail(new StorageCorrupt({ reason: `record ${unreadable[0]} is a key rotation that cannot be read` }))
  )

const rotatedTo = (crypto: Crypto, record: StoredRecord): string | null => {
  const read = readRecord(record.bytes)
  if (!read.ok || read.record.kind !== "key.rotated" || !equalBytes(crypto.leafHash(record.bytes), record.hash))
    return null
  const to = read.record.body["to_vkey"]
  return typeof to === "string" ? to : null
}

/** The rotations among these keys, oldest first. */
export const rotationsAmong = (keys: ReadonlyArray<KeySince>): ReadonlyArray<Rotation> =>
  keys.flatMap(({ seq, vkey }, index) => (seq === 0 ? [] : [{ seq, fromVkey: keys[index - 1]!.vkey, toVkey: vkey }]))

/** The key that signs for a tree of this size. */
export const vkeyAt = (keys: ReadonlyArray<KeySince>, size: number): string =>
  keys.findLast(({ seq }) => seq < size)!.vkey

/**
 * Which keys must sign the checkpoint of `size` records, when the one before it covers `covered`: the current one last,
 * and before it
 * the keys of every rotation that no checkpoint covers yet.
 */
export const vkeysToSign = (keys: ReadonlyArray<KeySince>, covered: number, size: number): ReadonlyArray<string> => {
  const fresh = rotationsAmong(keys).filter(({ seq }) => seq >= covered && seq < size)
  return fresh.length === 0 ? [vkeyAt(keys, size)] : [fresh[0]!.fromVkey, ...fresh.map(({ toVkey }) => toVkey)]
}

/** The key id of a vkey: 8 hex digits. */
export const keyIdText = (vkey: string): string => {
  const parsed = parseVkey(vkey)
  return parsed.ok ? toHex(parsed.vkey.keyId) : "?"
}

/**
 * The keys of these vkeys. Where this process does not hold one in memory, what it shares with others is read again.
 *
 * - Fails: `StorageUnavailable`, naming the key that is not here, when one is missing. Nothing is signed then.
 */
export const signingKeys = Effect.fnUntraced(function* (
  signer: SignerApi,
  origin: string,
  vkeys: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<SigningKey>, ReadFault> {
  const own = formatVkey(origin, signer.publicKey)
  // The usual case touches no file.
  if (vkeys.every((vkey) => vkey === own)) return vkeys.map(() => signer)
  const { current, next } = yield* heldKeys(signer)
  const held = new Map(
    [signer, ...(next === null ? [current] : [current, next])].map((key) => [formatVkey(origin, key.publicKey), key])
  )
  const found: Array<SigningKey> = []
  for (const vkey of vkeys) {
    const key = held.get(vkey)
    if (key === undefined) {
      return yield* new StorageUnavailable({
        reason:
          `the chain was rotated to another signing key, and the key ${keyIdText(vkey)}, which must sign now, ` +
          `is not here (${[...held.keys()].map(keyIdText).join(", ")}). ` +
          "Records are accepted, nothing is signed: start this process again with the data folder that holds it",
        wrote: "no"
      })
    }
    found.push(key)
  }
  return found
})
