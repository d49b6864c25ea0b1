/**
 * Run by a test as a process of its own, to be killed: advances the guard of a data folder for ever, and says each
 * state it was granted.
 */
import { openFolder } from "../open-folder.ts"

const { guard, key } = await openFolder({ dir: process.argv[2]! })
for (;;) {
  const held = await guard.read()
  const size = (held?.size ?? 0) + 1
  if (await guard.advance(held, { origin: key.origin, size, rootHex: "a".repeat(64) }))
    process.stdout.write(`${size}\n`)
}
