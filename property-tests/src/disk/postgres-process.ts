/** Starts a Postgres where this process is, says its address, and stops it when standard input closes. */
import { startPostgres } from "@flyball/testkit/postgres"

const { stop, url } = await startPostgres()
console.log(url)
process.stdin.resume().once("close", () => void stop())
