/** The programs of examples/agents, and their output as the page shows it. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** A program of the examples. */
export interface AgentExample {
  readonly name: string
  /** The file that its command starts. */
  readonly file: string
  /** Its output as the page shows it; empty where the page does not. */
  readonly prints: string
}

/** The programs of a copy of the folder, in the order of its package.json. */
export const agentExamples = (folder: string): ReadonlyArray<AgentExample> => {
  const page = readFileSync(join(folder, "README.md"), "utf8")
  const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly scripts: { readonly [name: string]: string }
  }
  return Object.entries(scripts).map(([name, command]) => ({
    name,
    file: /^node (\S+)$/.exec(command)![1]!,
    prints:
      new RegExp(`^\`npm run ${name}\` prints[^\`]*:\n\n\`\`\`text\n([\\s\\S]*?)^\`\`\``, "m").exec(page)?.[1] ?? ""
  }))
}

/** Exit status and output of a program. */
export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** Runs a program of a copy of the folder. */
export const runExample = (folder: string, file: string): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file], { cwd: folder })
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk) => (out += String(chunk)))
    child.stderr.on("data", (chunk) => (err += String(chunk)))
    child.on("error", reject)
    child.on("close", (status) => resolve({ status, out, err }))
  })
