/**
 * What the README and the pages in docs tell a reader to type is typed here: the shell blocks against a real server,
 * the embedding example as it stands.
 */
import { spawn } from "node:child_process"
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type RunningServer, startServer } from "./demo/server.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const readme = readFileSync(join(root, "README.md"), "utf8")
const folder = mkdtempSync(join(tmpdir(), "flyball-readme-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const blocks = (language: string): ReadonlyArray<string> =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((match) => match[1]!)

const run = (
  program: string,
  args: ReadonlyArray<string>,
  environment: { readonly [name: string]: string },
  cwd = root
): Promise<{ readonly status: number; readonly output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let output = ""
    child.stdout.on("data", (chunk) => (output += String(chunk)))
    child.stderr.on("data", (chunk) => (output += String(chunk)))
    child.on("error", reject)
    child.on("close", (status) => resolve({ status: status ?? -1, output }))
  })

/** Starts a server in a folder. It wants a trust store there, as the demo makes one. */
const startIn = (place: string): Promise<RunningServer> => {
  mkdirSync(join(place, "trust"), { recursive: true, mode: 0o700 })
  return startServer(place)
}

describe("the README", () => {
  it("starts with two commands and npm start, which CI and the other tests run", () => {
    assert.deepEqual(
      blocks("sh")
        .filter((block) => block.startsWith("npm "))
        .map((block) => block.trim()),
      ["npm ci && npm run demo", "npm ci && npm test", "npm start"]
    )
  })

  it("says what works at a running server", async () => {
    const server = await startIn(folder)
    try {
      const script = blocks("sh")
        .filter((block) => !block.startsWith("npm "))
        .join("\n")
        .replaceAll("http://127.0.0.1:8787", server.address)
        .replaceAll("evidence.evp", join(folder, "evidence.evp"))
        .replaceAll("backup-monday", join(folder, "backup-monday"))
      const { output, status } = await run("bash", ["-euo", "pipefail", "-c", script], {
        FLYBALL_DATA_DIR: folder,
        FLYBALL_DATABASE_URL: `sqlite:${folder}/flyball.db`,
        FLYBALL_ORIGIN: "flyball.example/demo"
      })
      assert.equal(status, 0, output)
      assert.include(output, `"client_ref":"run-1/step-1"`)
      assert.include(output, `"suspended_reason":"manual"`)
      assert.include(output, "GOOD. Everything that was asked for holds.")
    } finally {
      await server.stop()
    }
  })

  it("embeds in ten lines", async () => {
    const [example] = blocks("ts")
    assert.isAtMost(example!.trim().split("\n").length, 10)
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction")
    const file = join(folder, "example.ts")
    writeFileSync(
      file,
      example!.replace("decisions.db", join(folder, "decisions.db")).replace("./keys", join(folder, "keys"))
    )
    const { output, status } = await run(process.execPath, [file], {})
    assert.equal(status, 0, output)
    assert.equal(output.trim(), "durable and sealed as record 2")
  })
})

describe("the pages for operation", () => {
  const pages = [...globSync("docs/*.md", { cwd: root }), "SECURITY.md", "COMPATIBILITY.md", "README.md"].map(
    (path) => ({ path, text: readFileSync(join(root, path), "utf8") })
  )
  const sources = globSync(["packages/*/src/**/*.ts", "apps/*/src/**/*.ts"], { cwd: root })
    .filter((path) => !path.endsWith(".test.ts"))
    .map((path) => readFileSync(join(root, path), "utf8"))
    .join("\n")
    // Long sentences are split over lines.
    .replaceAll(/["`] \+\s+["`]/g, "")

  it.each(pages)("$path leads only to what is there", ({ path, text }) => {
    for (const [, target, anchor] of text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)) {
      const file = join(root, target === "" ? path : join(dirname(path), target!))
      assert.isTrue(existsSync(file), `${path} leads to ${target}`)
      if (anchor === undefined) continue
      const heads = [...readFileSync(file, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, head]) =>
        head!
          .toLowerCase()
          .replaceAll(/[^a-z0-9 _-]/g, "")
          .replaceAll(" ", "-")
      )
      assert.include(heads, anchor, `${path} leads to ${target}`)
    }
  })

  const operation = pages.filter(({ path }) => path.startsWith("docs/"))
  it.each(operation)("$path quotes what the programs say", ({ text }) => {
    const quoted = [...text.matchAll(/^> (.+)$/gm), ...text.matchAll(/^\| `([^`]* [^`]*)` \|/gm)].map(
      ([, line]) => line!
    )
    for (const piece of quoted
      .flatMap((line) => line.split("…"))
      .map((part) => part.trim())
      .filter((part) => part.length > 3))
      assert.include(sources, piece)
  })

  // One chain for all pages, which has signed already: it was stopped once.
  const place = join(folder, "pages")
  const data = join(place, ".flyball")
  const environment = {
    FLYBALL_DATA_DIR: data,
    FLYBALL_DATABASE_URL: `sqlite:${data}/flyball.db`,
    FLYBALL_ORIGIN: "flyball.example/demo",
    PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"]}`
  }
  let server: RunningServer | null = null
  beforeAll(async () => void (await (await startIn(data)).stop()))
  afterAll(async () => void (await server?.stop()))

  it.each(operation)(
    "what $path says to type works, beside a server or (`sh stopped`) after it was stopped",
    async ({ text }) => {
      for (const [, stopped, block] of text.matchAll(/^```sh( stopped)?\n([^]*?)^```/gm)) {
        if (stopped === undefined) server ??= await startIn(data)
        else await server?.stop().then(() => (server = null))
        const { output, status } = await run(
          "bash",
          ["-euo", "pipefail", "-c", block!.replaceAll("http://127.0.0.1:8787", server?.address ?? "")],
          environment,
          place
        )
        assert.strictEqual(status, 0, `${block}\n${output}`)
      }
    }
  )
})
