/** The licences of the packages whose code was joined, as one text that lies beside it. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The folder of the package that a file of `node_modules` belongs to, or null for a file of ours. */
export const packageFolder = (path: string): string | null =>
  /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path)?.[1] ?? null

/**
 * The text.
 *
 * - Fails: throws when a package brings no licence, for it may not be joined then.
 */
export const licencesOf = (modules: ReadonlyArray<string>): string => {
  const folders = [...new Set(modules.flatMap((path) => packageFolder(path) ?? []))].sort()
  const parts = folders.map((folder) => {
    const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      readonly name: string
      readonly version: string
      readonly license?: string
    }
    const file = readdirSync(folder).find((entry) => /^(licen[sc]e|copying)(\.|$)/i.test(entry))
    if (file === undefined)
      throw new Error(
        `${name} ${version} brings no licence text, so its code is not joined. Check what its authors say, ` +
          "and leave it out of the build or add the text"
      )
    return `${name} ${version} (${license ?? "see below"})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`
  })
  return [
    "Flyball is licensed under Apache-2.0. The files beside this one contain code of these packages too.\n",
    ...parts
  ].join(`\n${"-".repeat(80)}\n\n`)
}
