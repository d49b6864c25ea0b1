/**
 * Run by a test as a process of its own, to be killed: rotates the key files of a data folder for ever, and says each
 * key before it takes the place of the last.
 */
import { makeNextKey, promoteNextKey, readKeys } from "../key-files.ts"

const dir = process.argv[2]!
for (;;) {
  await makeNextKey(dir)
  const { next } = await readKeys(dir)
  if (next === null) throw new Error("A next key was made and is not there.")
  process.stdout.write(`${next.vkey}\n`)
  await promoteNextKey(dir, next.publicKey)
}
