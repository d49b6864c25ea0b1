/** Trust policies: which logs are believed, and which cosigners must have seen a checkpoint. Spec: C2SP tlog-policy. */
import type { Crypto } from "../crypto.ts"
import { toHex } from "../bytes.ts"
import type { Vkey } from "../note/vkey.ts"
import { checkVkey, parseVkey, signatureType } from "../note/vkey.ts"

/** Names of a policy: far above the 32 of each sort that C2SP asks for. */
export const MAX_POLICY_NAMES = 1024
/** Bytes of a policy file. */
export const MAX_POLICY_BYTES = 1024 * 1024

/** A cosigner under the name that the policy gives it. */
export interface PolicyWitness {
  readonly name: string
  readonly vkey: Vkey
}

/** A rule over cosigners: one of them, or `threshold` of the members. */
export type Quorum =
  | { readonly kind: "none" }
  | { readonly kind: "witness"; readonly name: string }
  | {
      readonly kind: "group"
      readonly name: string
      readonly threshold: number
      readonly members: ReadonlyArray<Quorum>
    }

/**
 * A policy as read. Keys that we cannot verify with (ML-DSA) are kept apart: their signatures count for nothing. Spec:
 * C2SP tlog-policy.
 */
export interface Policy {
  readonly logs: ReadonlyArray<Vkey>
  readonly witnesses: ReadonlyArray<PolicyWitness>
  readonly quorum: Quorum
  readonly unsupported: ReadonlyArray<string>
}

/** A policy, or the first line that is wrong and why. */
export type PolicyResult =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly line: number; readonly reason: string }

/**
 * Reads a policy file.
 *
 * Names are opaque bytes, so the file is read as one character a byte; nothing is normalised.
 *
 * - Fails: never; the reason says what was expected on that line.
 * - Spec: C2SP tlog-policy.
 */
export const parsePolicy = (crypto: Crypto, file: Uint8Array): PolicyResult => {
  if (file.length > MAX_POLICY_BYTES)
    return { ok: false, line: 1, reason: `a policy has at most ${MAX_POLICY_BYTES} bytes` }
  const lines = oneCharacterAByte(file).split("\n")
  const reading: Reading = {
    crypto,
    logs: [],
    witnesses: [],
    unsupported: [],
    named: new Map(),
    grouped: new Set(),
    keys: new Set(),
    quorum: null
  }
  for (const [index, line] of lines.entries()) {
    const reason = CONTROL.test(line)
      ? "a policy holds no control characters but tabs and newlines"
      : readLine(reading, line)
    if (reason !== null) return { ok: false, line: index + 1, reason }
  }
  const { logs, quorum, unsupported, witnesses } = reading
  if (quorum === null)
    return { ok: false, line: lines.length, reason: "a policy has one quorum line; `quorum none` asks for no cosigner" }
  return { ok: true, policy: { logs, witnesses, quorum, unsupported } }
}

/**
 * True when these cosigners, by their names in the policy, make up the quorum. Each counts once. Spec: C2SP
 * tlog-policy; format 1 section 6.1, "Anchoring".
 */
export const quorumMet = (quorum: Quorum, cosigned: ReadonlySet<string>): boolean => {
  if (quorum.kind === "none") return true
  if (quorum.kind === "witness") return cosigned.has(quorum.name)
  return quorum.members.filter((member) => quorumMet(member, cosigned)).length >= quorum.threshold
}

/** The cosigners that a quorum names, by their names in the policy. */
export const quorumWitnesses = (quorum: Quorum): ReadonlySet<string> => {
  if (quorum.kind === "none") return new Set()
  if (quorum.kind === "witness") return new Set([quorum.name])
  return new Set(quorum.members.flatMap((member) => [...quorumWitnesses(member)]))
}

interface Reading {
  readonly crypto: Crypto
  readonly logs: Array<Vkey>
  readonly witnesses: Array<PolicyWitness>
  readonly unsupported: Array<string>
  readonly named: Map<string, Quorum>
  readonly grouped: Set<string>
  readonly keys: Set<string>
  quorum: Quorum | null
}

const oneCharacterAByte = (file: Uint8Array): string => {
  let text = ""
  for (const byte of file) text += String.fromCharCode(byte)
  return text
}

/** A key name is real text, unlike the names of the policy. */
const utf8Text = new TextDecoder("utf-8")
// eslint-disable-next-line no-control-regex -- finding control characters is the point
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/

const readLine = (reading: Reading, line: string): string | null => {
  const [word, ...fields] = line.split(/[ \t]+/).filter((item) => item !== "")
  if (word === undefined || word.startsWith("#")) return null
  if (word === "log") return readLog(reading, fields)
  if (word === "witness") return readWitness(reading, fields)
  if (word === "group") return readGroup(reading, fields)
  if (word === "quorum") return readQuorum(reading, fields)
  return "a line of a policy starts with log, witness, group, quorum or #"
}

const readLog = (reading: Reading, [text, , ...more]: ReadonlyArray<string>): string | null => {
  if (text === undefined || more.length > 0) return "a log line is `log <vkey> [<url>]`"
  const read = readKey(reading, text, "log", signatureType.ed25519)
  if (typeof read === "string") return read
  if (read !== null) reading.logs.push(read)
  return null
}

const readWitness = (reading: Reading, [name, text, , ...more]: ReadonlyArray<string>): string | null => {
  if (name === undefined || text === undefined || more.length > 0)
    return "a witness line is `witness <name> <vkey> [<url>]`"
  const taken = readName(reading, name)
  if (taken !== null) return taken
  const read = readKey(reading, text, "witness", signatureType.cosignature)
  if (typeof read === "string") return read
  if (read !== null) reading.witnesses.push({ name, vkey: read })
  reading.named.set(name, { kind: "witness", name })
  return null
}

const readGroup = (reading: Reading, [name, rule, ...names]: ReadonlyArray<string>): string | null => {
  if (name === undefined || rule === undefined || names.length === 0)
    return "a group line is `group <name> all|any|<k> <name>…`"
  const taken = readName(reading, name)
  if (taken !== null) return taken
  const members: Array<Quorum> = []
  for (const memberName of names) {
    const member = reading.named.get(memberName)
    if (member === undefined) return "a group names witnesses and groups of the lines above it"
    if (reading.grouped.has(memberName)) return "a witness or group is a member of one group, once"
    reading.grouped.add(memberName)
    members.push(member)
  }
  const threshold =
    rule === "all" ? members.length : rule === "any" ? 1 : /^[1-9][0-9]{0,8}$/.test(rule) ? Number(rule) : 0
  if (threshold < 1 || threshold > members.length)
    return "the rule of a group is all, any, or a number from 1 to the number of its members"
  reading.named.set(name, { kind: "group", name, threshold, members })
  return null
}

const readQuorum = (reading: Reading, [name, ...more]: ReadonlyArray<string>): string | null => {
  if (name === undefined || more.length > 0) return "a quorum line is `quorum <name>`"
  if (reading.quorum !== null) return "a policy has one quorum line"
  const quorum: Quorum | undefined = name === "none" ? { kind: "none" } : reading.named.get(name)
  if (quorum === undefined) return "the quorum names a witness or group of the lines above it, or none"
  reading.quorum = quorum
  return null
}

const readName = (reading: Reading, name: string): string | null => {
  if (name === "none") return "none is not a name for a witness or a group"
  if (reading.named.has(name)) return "two lines define one name"
  return reading.named.size >= MAX_POLICY_NAMES ? `a policy has at most ${MAX_POLICY_NAMES} witnesses and groups` : null
}

/** A key that fits its line; null for one that is well made but of a type we do not verify; otherwise what is wrong. */
const readKey = (reading: Reading, byteText: string, role: "log" | "witness", type: number): Vkey | string | null => {
  const text = utf8Text.decode(Uint8Array.from(byteText, (letter) => letter.charCodeAt(0)))
  const parsed = parseVkey(text)
  if (!parsed.ok) return parsed.reason
  const { vkey } = parsed
  const key = `${role} ${toHex(vkey.publicKey)}`
  if (reading.keys.has(key)) return `two ${role} lines hold the same public key`
  reading.keys.add(key)
  if (vkey.type === signatureType.mlDsa44) {
    reading.unsupported.push(`${role} key ${vkey.name} ${toHex(vkey.keyId)} (ML-DSA-44)`)
    return null
  }
  if (vkey.type !== type) return `a ${role} key has type 0x0${type}`
  const unusable = checkVkey(reading.crypto, vkey)
  return unusable === null ? vkey : `this ${role} key cannot be used: ${unusable}`
}
