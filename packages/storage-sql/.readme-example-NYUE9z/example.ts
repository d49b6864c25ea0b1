import { openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"

await using governor = await openGovernor({
  storage: sqliteStorage({ file: "flyball.db" }),
  keys: dataFolder({ dir: ".flyball" }) // a store that stays needs keys that do
})
console.log("chain:", (await governor.chain.verify()).ok)
