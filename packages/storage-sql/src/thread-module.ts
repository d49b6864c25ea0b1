/** Finds the module that a thread runs. */
import { existsSync } from "node:fs"

/**
 * The address of a thread's module: the file beside the one that starts it, or the installed package's when a bundler
 * moved that one.
 *
 * - Fails: throws with a sentence when neither is there.
 */
export const threadModule = (name: string, startedBy: string): string => {
  const beside = new URL(`./${name}.${startedBy.endsWith(".ts") ? "ts" : "js"}`, startedBy)
  if (existsSync(beside)) return beside.href
  try {
    return import.meta.resolve(`@flyball/storage-sql/${name}`)
  } catch (cause) {
    throw new Error(
      `The module ${name} of a storage thread was not found beside ${startedBy}, nor in node_modules. Bundle ` +
        `@flyball/storage-sql/${name} as ${name}.js beside your program, or keep @flyball/storage-sql out of ` +
        "the bundle.",
      { cause }
    )
  }
}
