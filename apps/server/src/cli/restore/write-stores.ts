/** The stores of a backup in their places: all of them, or none. */
import { existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { copyFromFile, removeStore, retiredLocation, type StoreLocation } from "@flyball/storage-sql/operations"
import { Effect } from "effect"
import { storeName } from "../../host/store-location.ts"
import { describeFile, type BackedUpFile, type Manifest, retiredNumber, STORE } from "../backup/manifest.ts"

/**
 * Writes the retired stores first: they are of use only beside the one that is in use, which comes last and says that
 * all is there.
 *
 * A retired file that exists already, byte for byte, is what a restore that was killed left: it stays.
 *
 * - Fails: with the cause, once what was written is taken away again; names what could not be.
 */
export const writeStores = async (from: string, { files }: Manifest, store: StoreLocation): Promise<void> => {
  const written: Array<StoreLocation> = []
  try {
    for (const file of files) {
      const number = retiredNumber(file.name)
      if (number === null) continue
      const to = retiredLocation(store, number)
      if (await isSame(file, to)) continue
      // Each copy is there whole or not at all: only what is complete is ours to take back.
      await Effect.runPromise(copyFromFile(join(from, file.name), to))
      written.push(to)
    }
    await Effect.runPromise(copyFromFile(join(from, STORE), store))
  } catch (cause) {
    const left = await takeBack(written)
    if (left.length === 0) throw cause
    throw new Error(
      `${cause instanceof Error ? cause.message : String(cause)} Files of this restore could not be removed: remove ` +
        `${left.join(" and ")} before the next one`,
      { cause }
    )
  }
}

const isSame = async ({ bytes, sha256 }: BackedUpFile, to: StoreLocation): Promise<boolean> => {
  if (to.kind !== "sqlite" || !existsSync(to.file)) return false
  const found = await describeFile(dirname(to.file), basename(to.file))
  return found.bytes === bytes && found.sha256 === sha256
}

/** Answers the names of what is still there. */
const takeBack = async (written: ReadonlyArray<StoreLocation>): Promise<ReadonlyArray<string>> => {
  const left: Array<string> = []
  for (const one of written) {
    await Effect.runPromise(removeStore(one)).catch(() =>
      left.push(one.kind === "sqlite" ? one.file : `the schema ${one.schema ?? "flyball"} of ${storeName(one)}`)
    )
  }
  return left
}
