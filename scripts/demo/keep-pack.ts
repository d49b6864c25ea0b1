/** Keeps the demo's last evidence pack, and gives the command that verifies it. */
import { copyFileSync, readFileSync } from "node:fs"

/** Copies the pack of the demo's folder to `file`, and gives the shell command that verifies it. */
export const keepPack = (folder: string, file: string): string => {
  copyFileSync(`${folder}/bounded.evp`, file)
  const vkey = readFileSync(`${folder}/vkey`, "utf8").trim()
  return `node_modules/.bin/flyball-verify ${file} --vkey '${vkey}' --replay`
}
