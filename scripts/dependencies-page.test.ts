/** The table of docs/dependencies.md against the manifests and the lock file. */
import { globSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))
const json = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"))

it("docs/dependencies.md lists every run-time dependency, with version, licence and users", () => {
  const users = new Map<string, Array<string>>()
  for (const path of globSync("{packages,apps}/*/package.json", { cwd: root })) {
    const { dependencies = {} } = json(path) as { dependencies?: { readonly [name: string]: string } }
    for (const [name, version] of Object.entries(dependencies)) {
      if (name.startsWith("@flyball/")) continue
      const key = `${name} ${version}`
      users.set(key, [...(users.get(key) ?? []), basename(dirname(path))])
    }
  }
  const { packages } = json("package-lock.json") as { packages: { readonly [path: string]: { license?: string } } }
  const expected = [...users].map(
    ([key, by]) => `${key} ${packages[`node_modules/${key.split(" ")[0]}`]?.license} ${by.sort().join(", ")}`
  )
  const page = readFileSync(join(root, "docs/dependencies.md"), "utf8")
  const rows = [...page.matchAll(/^\| `([^`]+)` \| (\d[^ ]*) \| (\S+) \| [^|]+ \| ([^|]+) \|$/gm)]
  assert.deepEqual(
    rows.map(([, name, version, licence, by]) => `${name} ${version} ${licence} ${by}`),
    expected.sort()
  )
})
