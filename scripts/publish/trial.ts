/**
 * `npm run test:packages`: packs every published package, installs the tarballs into empty projects outside the
 * workspace, and uses them as a stranger would. Uses the package registry. Prints a line for each trial; the exit
 * status is 0 when all hold.
 */
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { gunzipSync, zstdCompressSync } from "node:zlib"
import { adapterReadmes } from "../../property-tests/src/client/adapter-readmes.ts"
import { agentExamples, runExample } from "../agent-examples.ts"
import { libraries } from "./list.ts"
import { makeExecutable } from "./executable.ts"
import { packPackages, type Tarball } from "./pack.ts"
import { stagePackages } from "./stage.ts"
import {
  frameworks,
  requireAlone,
  type Runtime,
  startReadmeServer,
  tryAdapterReadme,
  writeAdapterReadmes,
  writeAdapters,
  writeProgram
} from "./try-client.ts"
import { tryExample } from "./try-example.ts"
import { tryImages } from "./try-images.ts"
import { tryWorker } from "./try-worker.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const here = fileURLToPath(new URL(".", import.meta.url))
const work = mkdtempSync(join(tmpdir(), "flyball-packages-"))
process.once("exit", () => rmSync(work, { recursive: true, force: true }))

/** `-- --all`: also what takes long and is tried elsewhere or in a like form. */
const all = process.argv.includes("--all")

/** Services that embed the library, each a project of its own. `npm test` runs the other two from the workspace. */
const EXAMPLES = all ? ["embed-express", "embed-fastify", "embed-nest"] : ["embed-nest"]

/** Packages of ours that each example installs. */
const EXAMPLE = ["@flyball/core", "@flyball/http", "@flyball/storage-sql", "@flyball/node"]

/**
 * Packages that an embedding host installs, and the limits for what they bring. Stated in the README of the core
 * package.
 */
const EMBEDDING = ["@flyball/core", "@flyball/storage-sql", "@flyball/node"]
const MOST_MEBIBYTES = 76
const MOST_PACKAGES = 20

/** Installed into agents, which run in more than Node. */
const CLIENT = "@flyball/client"

let passed = 0
let failed = 0

/** Runs one trial. The text that it throws is printed below its name. */
const trial = (name: string, body: () => string | void): void => {
  const startedAt = performance.now()
  try {
    reportPassed(name, startedAt, body())
  } catch (cause) {
    reportFailed(name, cause)
  }
}

const trialOf = (name: string, body: () => Promise<void>): Promise<void> => {
  const startedAt = performance.now()
  return body().then(
    () => reportPassed(name, startedAt),
    (cause: unknown) => reportFailed(name, cause)
  )
}

const reportPassed = (name: string, startedAt: number, detail: string | void): void => {
  passed++
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`ok   ${name}${detail === undefined ? "" : `: ${detail}`} (${seconds} s)`)
}

const reportFailed = (name: string, cause: unknown): void => {
  failed++
  console.log(`FAIL ${name}\n${cause instanceof Error ? cause.message : String(cause)}`)
}

const run = (
  program: string,
  args: ReadonlyArray<string>,
  cwd: string,
  expected: number | ReadonlyArray<number> = 0
): string => {
  const { error, status, stderr, stdout } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, npm_config_update_notifier: "false" },
    maxBuffer: 64 * 1024 * 1024
  })
  if (error !== undefined) throw error
  if (![expected].flat().includes(status ?? -1))
    throw new Error(`${program} ${args.join(" ")} ended with ${status}.\n${stdout}\n${stderr}`)
  return stdout
}

const npmInstall = (folder: string, ...args: ReadonlyArray<string>): string =>
  run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...args], folder)

/** An empty project that depends on tarballs. The overrides keep npm from asking the registry for our packages. */
const project = (name: string, tarballs: ReadonlyArray<Tarball>, direct: ReadonlyArray<string>): string => {
  const folder = join(work, name)
  mkdirSync(folder)
  const byName = new Map(tarballs.map((tarball) => [tarball.name, `file:${tarball.file}`]))
  const pick = (names: ReadonlyArray<string>) => Object.fromEntries(names.map((each) => [each, byName.get(each)]))
  const others = [...byName.keys()].filter((each) => !direct.includes(each))
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify(
      { name, private: true, type: "module", dependencies: pick(direct), overrides: pick(others) },
      null,
      2
    )
  )
  // pnpm 12 reads its overrides from here.
  const overrides = [...byName].map(([each, file]) => `  "${each}": "${file}"`).join("\n")
  writeFileSync(join(folder, "pnpm-workspace.yaml"), `overrides:\n${overrides}\n`)
  return folder
}

const tools = join(work, "tools")
cpSync(join(here, "tools"), tools, { recursive: true })
run("npm", ["ci", "--no-audit", "--no-fund"], tools)
const tool = (name: string): string => join(tools, "node_modules", ".bin", name)
/** A program of a package that holds nothing else. */
const binary = (path: string): string => {
  const file = join(tools, "node_modules", path)
  chmodSync(file, 0o755)
  return file
}
const node = (version: "20" | "22"): string => join(tools, "node_modules", `node-${version}`, "bin", "node")
const compiler = (version: "5" | "7"): string => join(tools, "node_modules", `typescript-${version}`, "bin", "tsc")

// In the repository, so that the compiler finds its types.
const staged = join(root, "dist", "packages")
await stagePackages(root, staged)
const tarballs = packPackages(staged, join(work, "tarballs"))
const names = tarballs.map(({ name }) => name)
const libraryNames = libraries.map(({ folder }) => `@flyball/${folder.replace("packages/", "")}`)

for (const { file, name } of tarballs) {
  trial(`publint ${name}`, () => void run(tool("publint"), ["run", file, "--strict"], work))
  // Node's ESM is what the packages promise; CommonJS hosts use require(esm), which Node 22 and newer have.
  if (libraryNames.includes(name))
    trial(`arethetypeswrong ${name}`, () => void run(tool("attw"), [file, "--profile", "esm-only"], work))
}

const embedding = project("embedding", tarballs, EMBEDDING)
trial("npm installs what an embedding host needs", () => {
  npmInstall(embedding)
  const installed = globSync("node_modules/{*,@*/*}/package.json", { cwd: embedding })
  const bytes = globSync("node_modules/**/*", { cwd: embedding })
    .map((path) => statSync(join(embedding, path)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0)
  const mebibytes = Math.ceil(bytes / 1024 / 1024)
  if (mebibytes > MOST_MEBIBYTES || installed.length > MOST_PACKAGES)
    throw new Error(`${mebibytes} MiB in ${installed.length} packages; at most ${MOST_MEBIBYTES} in ${MOST_PACKAGES}.`)
  const [, packages, size] =
    /(\d+) packages and (\d+) MiB/.exec(readFileSync(join(root, "docs/embed.md"), "utf8")) ?? []
  if (Number(packages) !== installed.length || Math.abs(Number(size) - mebibytes) > 1)
    throw new Error(
      `docs/embed.md says ${packages} packages and ${size} MiB; they are ${installed.length} and ${mebibytes}.`
    )
  return `${mebibytes} MiB, ${installed.length} packages`
})

/** The programs that the READMEs show, as a stranger copies them. */
const programs = (readme: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, readme), "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text]) => text!)

const [embed] = programs("README.md")
const sealed = /durable and sealed as record \d+/
trial("runs the README's program", () => {
  if (embed === undefined) throw new Error("No page has a program to run.")
  writeFileSync(join(embedding, "embed.ts"), embed)
  if (!sealed.test(run(process.execPath, ["embed.ts"], embedding))) throw new Error("It printed something else.")
})

/** Whole programs of the packages' READMEs, with what they are to print where a page says it. */
for (const name of EMBEDDING) {
  const page = `packages/${name.replace("@flyball/", "")}/README.md`
  trial(`runs the programs of ${page}`, () => {
    const shown = [
      ...readFileSync(join(root, page), "utf8").matchAll(
        /^```ts\n([\s\S]*?)^```\n(?:\nIt prints:\n\n```text\n([\s\S]*?)```)?/gm
      )
    ].filter(([, code]) => code!.includes("await using governor"))
    if (shown.length === 0) throw new Error("The page has no program.")
    shown.forEach(([, code, prints], index) => {
      const folder = join(embedding, "programs", name, String(index))
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "program.ts"), code!)
      const out = run(process.execPath, ["program.ts"], folder)
      if (prints !== undefined && out !== prints) throw new Error(`Program ${index} printed:\n${out}`)
    })
    return `${shown.length}`
  })
}

const everything = project("everything", tarballs, libraryNames)
trial("npm installs every library", () => {
  npmInstall(everything)
  npmInstall(everything, "--no-save", "@types/node@24.19.2")
})
const entries = libraryNames.flatMap((name) => {
  const manifest = JSON.parse(readFileSync(join(everything, "node_modules", name, "package.json"), "utf8")) as {
    exports: Record<string, unknown>
  }
  return (
    Object.keys(manifest.exports)
      // Threads start the workers; no program imports them.
      .filter((subpath) => subpath !== "./package.json" && !subpath.endsWith("-worker"))
      // An adapter needs its framework, which is an optional peer.
      .filter((subpath) => name !== CLIENT || [".", "./file-spool"].includes(subpath))
      .map((subpath) => name + subpath.slice(1))
  )
})
writeFileSync(
  join(everything, "all.ts"),
  `${entries.map((entry, i) => `import * as e${i} from "${entry}"`).join("\n")}\n` +
    `console.log([${entries.map((_, i) => `Object.keys(e${i}).length > 0`).join(", ")}].every(Boolean))\n`
)
writeFileSync(join(everything, "program.ts"), embed ?? "")
for (const version of ["5", "7"] as const) {
  trial(`TypeScript ${version} accepts every declaration (skipLibCheck off)`, () => {
    const config = {
      compilerOptions: {
        module: "nodenext",
        target: "es2024",
        lib: ["esnext", "dom"],
        types: ["node"],
        strict: true,
        skipLibCheck: false,
        noEmit: true,
        exactOptionalPropertyTypes: true
      },
      files: ["all.ts", "program.ts"]
    }
    writeFileSync(join(everything, "tsconfig.json"), JSON.stringify(config))
    run(process.execPath, [compiler(version), "-p", "."], everything)
  })
}
trial("every entry loads", () => {
  cpSync(join(everything, "all.ts"), join(everything, "all.mjs"))
  if (run(process.execPath, ["all.mjs"], everything).trim() !== "true") throw new Error("An entry exports nothing.")
})

trial("pnpm installs the same and runs it", () => {
  const folder = project("pnpm", tarballs, EMBEDDING)
  run(tool("pnpm"), ["install", "--ignore-scripts", "--store-dir", join(work, "pnpm-store")], folder)
  writeFileSync(join(folder, "embed.ts"), embed ?? "")
  if (!sealed.test(run(process.execPath, ["embed.ts"], folder))) throw new Error("It printed something else.")
})

for (const [bundler, flags] of [
  ["esbuild", ["--bundle", "--platform=node", "--format=esm", "--target=node22", "--outdir=bundle-esbuild"]],
  ["rolldown", ["--platform=node", "--format=esm", "--transform.target=node22", "--dir=bundle-rolldown"]]
] as const) {
  trial(`a host bundled with ${bundler} finds its storage thread, under Node 24 and 22`, () => {
    run(tool(bundler), ["embed.ts", ...flags], embedding)
    for (const program of [process.execPath, node("22")])
      if (!sealed.test(run(program, [`bundle-${bundler}/embed.js`], embedding)))
        throw new Error("It printed something else.")
  })
}

trial("the install line of docs/embed.md needs no registry entry of ours", () => {
  const folder = project("direct", tarballs, [])
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "direct", private: true, type: "module" }))
  const [, listed] = /^npm install .*flyball-\{([\w,-]+)\}\.tgz$/m.exec(
    readFileSync(join(root, "docs/embed.md"), "utf8")
  )!
  npmInstall(folder, ...listed!.split(",").map((short) => join(work, "tarballs", `flyball-${short}.tgz`)))
  cpSync(join(embedding, "embed.ts"), join(folder, "embed.ts"))
  if (!sealed.test(run(process.execPath, ["embed.ts"], folder))) throw new Error("It printed something else.")
})

for (const example of EXAMPLES) {
  const folder = project(example, tarballs, [])
  await trialOf(`examples/${example} decides, records, restarts, and its pack verifies`, async () => {
    const { overrides } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      overrides: Record<string, string>
    }
    cpSync(join(root, "examples", example), folder, { recursive: true })
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      scripts: Record<string, string>
      dependencies: Record<string, string>
    }
    for (const name of EXAMPLE) manifest.dependencies[name] = overrides[name]!
    const others = Object.entries(overrides).filter(([name]) => !EXAMPLE.includes(name))
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ ...manifest, overrides: Object.fromEntries(others) }, null, 2)
    )
    npmInstall(folder)
    // What `npm start` runs, but so that a signal reaches the service.
    if (manifest.scripts["prestart"] !== undefined) run("npm", ["run", "prestart"], folder)
    const [, program] = /^node (\S+)$/.exec(manifest.scripts["start"]!)!
    await tryExample(folder, program!, join(staged, "verify", "dist", "flyball-verify.mjs"))
  })
}

const agent = project("agent", tarballs, [CLIENT])
trial("the client installs alone", () => {
  npmInstall(agent)
  return requireAlone(agent)
})
writeProgram(agent)
npmInstall(agent, "--no-save", "@types/node@24.19.2")
for (const version of ["5", "7"] as const)
  trial(`TypeScript ${version} accepts the client's README (skipLibCheck off)`, () => {
    run(process.execPath, [compiler(version), "-p", "."], agent)
  })
const runtimes: ReadonlyArray<Runtime> = [
  { name: "Node 20.19", command: node("20"), args: [], takes: "js" },
  { name: "Node 22.19", command: node("22"), args: [], takes: "js" },
  { name: "Node 24", command: process.execPath, args: [], takes: "ts" },
  {
    name: "Deno",
    command: binary("@deno/linux-x64-glibc/deno"),
    args: ["run", "--allow-all", "--node-modules-dir=manual"],
    takes: "ts"
  },
  { name: "Bun", command: binary("@oven/bun-linux-x64/bin/bun"), args: ["run"], takes: "ts" }
]
const readmeServer = await startReadmeServer(agent)
for (const runtime of runtimes)
  await trialOf(`the program of the client's README, ${runtime.name}`, () => readmeServer.tryIn(runtime))
await trialOf("the client in a worker (workerd): registers, witnesses, asks, waits, is halted", () =>
  tryWorker({
    root,
    folder: agent,
    esbuild: tool("esbuild"),
    workerd: binary("@cloudflare/workerd-linux-64/bin/workerd"),
    server: readmeServer
  })
)

const adapting = project("adapters", tarballs, [CLIENT])
trial("the client's adapters install with their frameworks, and every one loads", () => {
  npmInstall(adapting)
  // The AI SDK's declarations name types of json-schema, which it does not bring.
  const types = ["@types/node@24.19.2", "@types/json-schema@7.0.15"]
  npmInstall(adapting, "--no-save", ...types, ...frameworks(root))
  writeAdapters(adapting)
  writeAdapterReadmes(adapting)
  return run(process.execPath, ["adapters.ts"], adapting).trim()
})
for (const version of all ? (["5", "7"] as const) : (["7"] as const))
  trial(`TypeScript ${version} accepts the client's adapters and their READMEs (skipLibCheck off)`, () => {
    run(process.execPath, [compiler(version), "-p", "."], adapting)
  })
for (const readme of adapterReadmes)
  await trialOf(`the program of the README of ${readme.name}`, () =>
    tryAdapterReadme(adapting, readme, readmeServer.environment)
  )
await readmeServer.stop()

const agents = join(work, "agents")
trial("the install line of examples/agents needs no registry entry of ours", () => {
  cpSync(join(root, "examples/agents"), agents, {
    recursive: true,
    filter: (path) => basename(path) !== "node_modules"
  })
  const [, listed] = /^npm install .*flyball-\{([\w,-]+)\}\.tgz$/m.exec(
    readFileSync(join(agents, "README.md"), "utf8")
  )!
  npmInstall(agents, ...listed!.split(",").map((short) => join(work, "tarballs", `flyball-${short}.tgz`)))
})
for (const { file, name, prints } of agentExamples(agents))
  await trialOf(`examples/agents: ${name} runs offline, and prints what its page says`, async () => {
    const ended = await runExample(agents, file)
    if (!isDeepStrictEqual(ended, { status: 0, out: prints, err: "" })) throw new Error(JSON.stringify(ended, null, 2))
  })

const commands = project("commands", tarballs, ["@flyball/server", "@flyball/verify"])
trial("the commands install without any dependency", () => {
  npmInstall(commands)
  const installed = globSync("node_modules/{*,@*/*}/package.json", { cwd: commands })
  if (installed.length !== 2) throw new Error(installed.join(", "))
})
const pack = join(root, "fixtures/vectors/flyball-format/valid-full-12.evp.gz")
trial("npx flyball-verify and npx @flyball/verify read a pack; the page lies beside them", () => {
  for (const name of ["flyball-verify", "@flyball/verify"]) {
    const out = run("npx", ["--no", name, pack], commands, 2)
    if (!out.includes("Integrity       ok.")) throw new Error(out)
  }
  const page = join(commands, "node_modules/@flyball/verify/dist/flyball-verify.html")
  if (!readFileSync(page, "utf8").startsWith("<!doctype html>")) throw new Error(`${page} is no page.`)
})
trial("flyball prints its version and settings", () => {
  const command = join(commands, "node_modules/.bin/flyball")
  const out = run(process.execPath, [command, "--version"], commands)
  if (!/^\d+\.\d+\.\d+\n$/.test(out)) throw new Error(out)
  run(process.execPath, [command, "config"], commands)
  run(node("20"), [command, "--version"], commands, 1)
})

await trialOf("the server reads an image and a scan, with an engine that recognises text beside it", async () => {
  npmInstall(commands, "tesseract.js@7.0.0", "@tesseract.js-data/eng@1.0.0")
  await tryImages(commands, join(work, "images"), join(root, "fixtures/documents"))
})

const single = join(staged, "verify", "dist", "flyball-verify.mjs")
const zstd = join(work, "pack.evp.zst")
writeFileSync(zstd, zstdCompressSync(readFileSync(join(root, "fixtures/vectors/flyball-format/valid-full-5.evp"))))
// Larger than what is decompressed in one go: an export of the starter traces.
const large = join(work, "large.evp.gz")
const operator = { ...process.env, FLYBALL_DATA_DIR: join(work, "operator"), FLYBALL_LOG_LEVEL: "silent" }
for (const args of [
  ["import", join(root, "fixtures/traces/starter.ndjson")],
  ["export", "--kind", "full", "--disclose", "all", "--out", large]
]) {
  const flyball = join(commands, "node_modules/.bin/flyball")
  const { status, stderr } = spawnSync(process.execPath, [flyball, ...args], {
    cwd: work,
    encoding: "utf8",
    env: operator
  })
  if (status !== 0) throw new Error(stderr)
}
const alone = join(work, "alone")
mkdirSync(alone)
cpSync(single, join(alone, "flyball-verify.mjs"))
for (const [version, program] of [
  ["20.19", node("20")],
  ["22.19", node("22")],
  ["24", process.execPath]
] as const) {
  trial(`the verifier as one file, Node ${version}`, () => {
    const verify = (file: string, expected: number, ...args: ReadonlyArray<string>) =>
      run(program, ["flyball-verify.mjs", file, ...args], alone, expected)
    const vectors = join(root, "fixtures/vectors/flyball-format")
    verify(join(vectors, "valid-full-12.evp.gz"), 2)
    verify(large, 2)
    verify(join(vectors, "valid-sparse-12-3.evp"), 2)
    verify(join(vectors, "invalid-record-changed.evp"), 1)
    verify(join(vectors, "invalid-cut.evp"), 3)
    verify(zstd, version === "20.19" ? 4 : 2)
    verify("none.evp", 4)
    if (!verify("--help", 0).startsWith("flyball-verify checks")) throw new Error("--help printed something else.")
    const made = globSync("*", { cwd: alone })
    if (made.length !== 1) throw new Error(`It left ${made.join(", ")} beside itself.`)
  })
}

await trialOf("the verifier as one executable, without any Node", async () => {
  const name = await makeExecutable(root, work)
  const executable = join(work, name.replace(/\.gz$/, ""))
  writeFileSync(executable, gunzipSync(readFileSync(join(work, name))), { mode: 0o755 })
  const vectors = join(root, "fixtures/vectors/flyball-format")
  for (const [file, status] of [
    ["valid-full-12.evp.gz", 2],
    ["invalid-record-changed.evp", 1],
    ["invalid-cut.evp", 3],
    ["none.evp", 4]
  ] as const) {
    const found = spawnSync(executable, [join(vectors, file), "--replay"], { cwd: alone, env: {} }).status
    if (found !== status) throw new Error(`${file}: expected the exit status ${status}, got ${found}.`)
  }
})

if (!existsSync(single)) failed++
console.log(`packages of ${names.length} names: ${passed} trials passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
