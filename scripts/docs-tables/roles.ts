/** The table of docs/roles.md: which role may call which endpoint, out of the contract. */
import { roles as strongestFirst } from "@flyball/contract"
import { type AnyEndpoint, endpoints, unitsFor } from "@flyball/contract/http"

/** Weakest first, as api.md has them. */
const roles = strongestFirst.toReversed()

/** Groups of endpoints, and their headings. A group without one fails the test of the page. */
const headings: { readonly [group: string]: string } = {
  system: "The service",
  agents: "Agents",
  evals: "Eval runs",
  behavior: "Behaviour change",
  mcp: "Tool servers",
  fairness: "Fairness screens",
  models: "Models",
  decisions: "Decisions",
  bound: "Bounded autonomy",
  reviews: "Reviews",
  standing_approvals: "Standing approvals",
  kill: "The kill switch",
  breakers: "Circuit breakers",
  chain: "The chain",
  evidence: "Evidence packs",
  ingest_keys: "Ingest keys",
  platform_keys: "Platform keys",
  access_mapping: "The access mapping",
  webhooks: "Webhooks"
}

const groupOf = ({ id }: AnyEndpoint): string => id.slice(0, id.indexOf("."))

/** `yes` in the unit of the grant, `*` with a grant for every unit only, `-` not at all. */
const cellOf = ({ access }: AnyEndpoint, role: (typeof roles)[number]): string => {
  const may = (orgUnit: string): boolean => unitsFor(access, { kind: "user", grants: [{ role, orgUnit }] }).length > 0
  return may("a unit") ? "yes" : may("*") ? "`*`" : "-"
}

const rowOf = (endpoint: AnyEndpoint): string => {
  const { access, method, path, summary } = endpoint
  const cells = [
    summary.replace(/\.$/, ""),
    `\`${method} ${path}\``,
    access.ingestKey ? "yes" : "-",
    ...roles.map((role) => cellOf(endpoint, role))
  ]
  return `| ${cells.join(" | ")} |`
}

const sectionOf = (group: string): string => {
  const heading = headings[group]
  if (heading === undefined) throw new Error(`The group ${group} has no heading in scripts/docs-tables/roles.ts`)
  const rows = endpoints.filter((endpoint) => groupOf(endpoint) === group && !endpoint.access.anonymous).map(rowOf)
  return [
    `### ${heading}`,
    "",
    `| act | call | ingest key | ${roles.join(" | ")} |`,
    "|---|---|---|---|---|---|---|---|",
    ...rows
  ].join("\n")
}

/** All tables, group by group in the order of the contract. */
export const rolesTable = (): string => [...new Set(endpoints.map(groupOf))].map(sectionOf).join("\n\n")
