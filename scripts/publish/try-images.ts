/** Reads a picture and a scan with the published server, beside which an engine that recognises text is installed. */
import { spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { isDeepStrictEqual } from "node:util"

/** The fields that stand in both. */
const printed = {
  invoice_number: "RE-2026-0042",
  date: "2026-11-03",
  net: "100.00",
  tax: "19.00",
  total: "119.00",
  currency: "EUR",
  vendor: "Muster GmbH"
}

/** Files of `fixtures/documents`. The scan lies on its side, and has a layer of other text that nobody sees. */
const files = [
  { name: "scanned.png", mediaType: "image/png", warnings: ["recognised_text"] },
  { name: "scanned.pdf", mediaType: "application/pdf", warnings: ["hidden_text", "recognised_text"] }
]

/** Throws where a server of a project, with its data in a folder, does not find what a file prints. */
export const tryImages = async (project: string, data: string, documents: string): Promise<void> => {
  const command = join(project, "node_modules/.bin/flyball")
  const env = { ...process.env, FLYBALL_DATA_DIR: data, FLYBALL_PORT: "0", FLYBALL_LOG_LEVEL: "silent" }
  const child = spawn(process.execPath, [command, "serve"], { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] })
  const ended = new Promise<never>((_, reject) => child.on("close", () => reject(new Error("The server ended."))))
  try {
    const ready = new Promise<string>((resolve) =>
      createInterface(child.stdout).on("line", (line) => {
        const found = / is ready at (http:\S+)$/.exec(line)
        if (found !== null) resolve(found[1]!)
      })
    )
    const url = await Promise.race([ready, ended])
    const mint = ["platform-key", "mint", "--name", "books", "--org-unit", "sales", "--plan", "starter"]
    const minted = spawnSync(process.execPath, [command, ...mint, "--scopes", "documents:read,documents:write"], {
      cwd: project,
      encoding: "utf8",
      env
    })
    for (const { mediaType, name, warnings } of files) {
      const answer = await fetch(`${url}/v1/documents/extract?wait=10`, {
        method: "POST",
        headers: { authorization: `Bearer ${minted.stdout.trim()}`, "content-type": mediaType },
        body: readFileSync(join(documents, name))
      })
      const { fields = {}, ...rest } = (await answer.json()) as {
        readonly fields?: { readonly [name: string]: { readonly value: string; readonly confidence: number } }
        readonly warnings?: unknown
      }
      const found = Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value]))
      const isSure = Object.values(fields).some(({ confidence }) => confidence > 0.8)
      const isSaid = isDeepStrictEqual(
        rest.warnings,
        warnings.map((code) => ({ code }))
      )
      if (!isDeepStrictEqual(found, printed) || isSure || !isSaid)
        throw new Error(`${name}: ${JSON.stringify({ fields, ...rest })}`)
    }
  } finally {
    ended.catch(() => undefined)
    child.kill()
    await ended.catch(() => undefined)
  }
}
