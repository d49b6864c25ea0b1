/** Packs the staged packages as npm would publish them. */
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"

/** A packed package. */
export interface Tarball {
  readonly name: string
  readonly file: string
  readonly folder: string
}

/** Runs `npm pack` in each staged folder. Fails: throws with npm's report. */
export const packPackages = (staged: string, out: string): ReadonlyArray<Tarball> => {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  return readdirSync(staged)
    .sort()
    .map((short) => {
      const folder = join(staged, short)
      const { status, stderr, stdout } = spawnSync("npm", ["pack", "--json", "--pack-destination", out], {
        cwd: folder,
        encoding: "utf8"
      })
      if (status !== 0) throw new Error(`npm pack of ${short} failed.\n${stderr}`)
      const file = join(out, `flyball-${short}.tgz`)
      renameSync(join(out, packedName(stdout)), file)
      return { name: `@flyball/${short}`, file, folder }
    })
}

/** npm 11 prints a list, npm 12 an object by name; both say the file's name. */
const packedName = (stdout: string): string => /"filename": "(?:.*\/)?([^"/]+\.tgz)"/.exec(stdout)![1]!
