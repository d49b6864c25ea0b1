/** Rows of the catalogue: who may come in, and as what. */
import { MAX_PART_BYTES } from "../pack/format.ts"
import { plans, platformScopes } from "../words.ts"
import { choice, count, hash, id, instant, type KindRow, may, must, objectPart, tier, writer } from "./row.ts"

const ownLimits = [
  may("concurrent", count),
  may("concurrent_runs", count),
  may("requests_per_day", count),
  may("requests_per_minute", count)
]

/** The rows, in the order of the specification's table. */
export const accessKinds: ReadonlyArray<KindRow> = [
  {
    kind: "ingest_key.minted",
    about: "An ingest key was created. `key_digest` is its SHA-256.",
    body: [
      may("capture", choice("mediated")),
      may("expires_at", instant),
      may("key_digest", hash),
      must("key_id", id("key_")),
      must("max_autonomy_tier", tier),
      writer
    ],
    parts: [objectPart("profile", 8192, ["name", "org_unit"])]
  },
  {
    kind: "ingest_key.revoked",
    about: "An ingest key is no longer valid.",
    body: [must("key_id", id("key_")), writer],
    parts: []
  },
  {
    kind: "platform_key.minted",
    about:
      "A platform key was created. `key_digest` is its SHA-256. Only a key of the plan `custom` has `limits`. " +
      "`agent_id` is the agent that calls the gateway with it.",
    body: [
      may("agent_id", id("agt_")),
      may("expires_at", instant),
      must("key_digest", hash),
      must("key_id", id("pky_")),
      may("limits", { type: "object", members: ownLimits }),
      must("plan", choice(...plans)),
      must("scopes", { type: "list", of: choice(...platformScopes), min: 1, max: 64 }),
      writer
    ],
    parts: [objectPart("profile", 8192, ["name", "org_unit"])]
  },
  {
    kind: "platform_key.revoked",
    about: "A platform key is no longer valid.",
    body: [must("key_id", id("pky_")), writer],
    parts: []
  },
  {
    kind: "mapping.changed",
    about: "The whole access mapping was replaced. `rules` is the number of its rules.",
    body: [must("rules", { type: "integer", min: 0, max: 1000 }), writer],
    parts: [
      objectPart("mapping", MAX_PART_BYTES, ["rules: [{id, match: {claim, value}, org_unit, role}]", "trust_canonical"])
    ]
  },
  {
    kind: "principal.seen",
    about: "A person was given a pseudonym, which records contain instead of a name.",
    body: [must("kind", choice("user")), must("principal_id", id("usr_"))],
    parts: [objectPart("identity", 16_384, ["issuer", "subject"])]
  }
]
