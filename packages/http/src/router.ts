/** Finds the endpoint of a path. A fixed segment beats a parameter, whatever the order of the table. */
import type { AnyEndpoint } from "@flyball/contract/http"

/** A path that exists: its endpoints by method, and the texts of its parameters in order. */
export interface Route {
  readonly methods: ReadonlyMap<string, AnyEndpoint>
  readonly values: ReadonlyArray<string>
  /** The Allow header of this path. */
  readonly allow: ReadonlyArray<string>
}

interface Node {
  readonly fixed: Map<string, Node>
  parameter: Node | null
  readonly methods: Map<string, AnyEndpoint>
  /** Made on first use. */
  allow: ReadonlyArray<string> | null
}

/** Segments of a path that are read; no endpoint has more. */
const MAX_SEGMENTS = 16

const newNode = (): Node => ({ fixed: new Map(), parameter: null, methods: new Map(), allow: null })

/** A router over an endpoint table. It answers null where nothing is. Spec: decision 0003. */
export const router = (endpoints: ReadonlyArray<AnyEndpoint>): ((path: string) => Route | null) => {
  const root = newNode()
  for (const endpoint of endpoints) insert(root, endpoint)
  const fixed = fixedRoutes(root, endpoints)
  return (path) => {
    const found = fixed.get(path)
    if (found !== undefined) return found
    const segments = path
      .split("/", MAX_SEGMENTS + 1)
      .slice(1)
      .map(decoded)
    if (segments.length > MAX_SEGMENTS || !segments.every((segment) => segment !== null)) return null
    const values: Array<string> = []
    const node = find(root, segments, 0, values)
    return node === null ? null : { methods: node.methods, values, allow: (node.allow ??= allowOf(node)) }
  }
}

/** Paths without a parameter, which nothing beats: they are found whole. */
const fixedRoutes = (root: Node, endpoints: ReadonlyArray<AnyEndpoint>): ReadonlyMap<string, Route> => {
  const routes = new Map<string, Route>()
  for (const { path } of endpoints) {
    if (path.includes("{")) continue
    const node = find(root, path.split("/").slice(1), 0, [])!
    routes.set(path, { methods: node.methods, values: [], allow: (node.allow ??= allowOf(node)) })
  }
  return routes
}

/** The names of a path's parameters, in order. */
export const paramNames = (path: string): ReadonlyArray<string> =>
  path
    .split("/")
    .filter((segment) => segment.startsWith("{"))
    .map((segment) => segment.slice(1, -1))

const insert = (root: Node, endpoint: AnyEndpoint): void => {
  let node = root
  for (const segment of endpoint.path.split("/").slice(1)) {
    if (segment.startsWith("{")) node = node.parameter ??= newNode()
    else {
      const next = node.fixed.get(segment) ?? newNode()
      node.fixed.set(segment, next)
      node = next
    }
  }
  if (node.methods.has(endpoint.method)) throw new Error(`two endpoints for ${endpoint.method} ${endpoint.path}`)
  node.methods.set(endpoint.method, endpoint)
}

/**
 * Goes back to the parameter where the fixed segment led nowhere: /agents/orphans must not hide /agents/{id}/decisions.
 */
const find = (node: Node, segments: ReadonlyArray<string>, at: number, values: Array<string>): Node | null => {
  const segment = segments[at]
  if (segment === undefined) return node.methods.size > 0 ? node : null
  const fixed = node.fixed.get(segment)
  const found = fixed === undefined ? null : find(fixed, segments, at + 1, values)
  if (found !== null || node.parameter === null || segment === "") return found
  values.push(segment)
  const below = find(node.parameter, segments, at + 1, values)
  if (below === null) values.pop()
  return below
}

const allowOf = (node: Pick<Node, "methods">): ReadonlyArray<string> => {
  const methods = [...node.methods.keys()]
  return [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].sort()
}

const decoded = (segment: string): string | null => {
  if (!segment.includes("%")) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
