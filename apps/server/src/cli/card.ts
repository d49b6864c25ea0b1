/**
 * `flyball card`: a key that vouches for agents, cards signed with it, and its entry in the trust store. Touches the
 * files it names and the trust store, never the data folder.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, extname, join, resolve } from "node:path"
import { readJson, withoutMark } from "@flyball/evidence"
import { fileProblem } from "../host/file-problem.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"

/** A key id is the name of the key's file: it stands in records, and names the file in the trust store. */
const KEY_ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/

/** `sign` prints the body of POST /agents/{id}/identity; `trust` prints the file that it wrote. */
export const run = command("card", async (args) => {
  const {
    positionals: [act, more],
    values
  } = readArguments(args, { key: { type: "string" }, card: { type: "string" } }, true)
  if ((act !== "sign" && act !== "trust") || more !== undefined)
    throw new UsageError("expected sign --key FILE --card FILE, or trust --key FILE")
  if (values.key === undefined) throw new UsageError("--key FILE is missing")
  const keyId = basename(values.key, extname(values.key))
  if (!KEY_ID.test(keyId))
    throw new UsageError(
      "the name of the key's file is the key id: before its ending it should be 1 to 200 of A-Z a-z 0-9 . _ -"
    )
  if (act === "trust") {
    if (values.card !== undefined) throw new UsageError("trust takes no --card")
    console.log(trust(keyId, keyOf(values.key)))
    return exitStatus.ok
  }
  if (values.card === undefined) throw new UsageError("--card FILE is missing; it holds the agent's card as JSON")
  const card = cardOf(values.card)
  const signature = sign(null, card, keyOf(values.key)).toString("base64")
  console.log(JSON.stringify({ signed_card: { card: card.toString("base64"), signature, key_id: keyId } }))
  return exitStatus.ok
})

/** The bytes of a card as they are in the file, without a byte order mark: what is signed is what is sent. */
const cardOf = (file: string): Buffer => {
  let bytes: Buffer
  try {
    bytes = Buffer.from(withoutMark(readFileSync(file === "-" ? 0 : file)))
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${fileProblem(cause)}`)
  }
  const read = readJson(bytes)
  if (!read.ok) throw new UsageError(`${file} is not JSON that can be read (${read.reason} at byte ${read.offset})`)
  if (typeof read.value !== "object" || read.value === null || Array.isArray(read.value))
    throw new UsageError(`${file} should hold one JSON object, the agent's card`)
  return bytes
}

/** The Ed25519 key in a file; a new one where there is no such file. */
const keyOf = (file: string): KeyObject => {
  try {
    const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" })
    // Never replaces a file: another process may have made the key in between.
    writeFileSync(file, pem, { flag: "wx", mode: 0o600 })
    console.error(
      `flyball: ${resolve(file)} is a new key. Anyone who has it can vouch for agents; keep it off the server.`
    )
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST")
      throw new UsageError(`${file} cannot be written: ${fileProblem(cause)}`)
  }
  let key: KeyObject
  try {
    key = createPrivateKey(readFileSync(file))
  } catch {
    throw new UsageError(`${file} should hold one private key in PEM`)
  }
  if (key.asymmetricKeyType !== "ed25519") throw new UsageError(`${file} should hold an Ed25519 key`)
  return key
}

/** Writes the public half into the trust store. The same key again changes nothing. */
const trust = (keyId: string, key: KeyObject): string => {
  const { settings } = settingsOfProcess()
  if (settings.trustStore === null)
    throw new Error("FLYBALL_TRUST_STORE is not set. Set it to a folder, for this command and for the server")
  const file = join(resolve(settings.trustStore), `${keyId}.pem`)
  const pem = createPublicKey(key).export({ type: "spki", format: "pem" }).toString()
  try {
    mkdirSync(settings.trustStore, { recursive: true, mode: 0o755 })
    writeFileSync(file, pem, { flag: "wx", mode: 0o644 })
    chmodSync(file, 0o644)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST")
      throw new Error(`${file} cannot be written: ${fileProblem(cause)}`, { cause })
    if (readFileSync(file, "utf8") !== pem)
      throw new Error(`${file} holds another key. Rename this key's file; its name is the key id`, { cause })
  }
  return file
}
