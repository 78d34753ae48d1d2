// Reads an account through a client whose types openapi-typescript made of the
// API's document, and prints what it read. Its address and key are arguments.
import createClient from "openapi-fetch";
import type { paths } from "./adlens.js";

const [address, key] = process.argv.slice(2);
// This client sends lists as repeated parameters.
const client = createClient<paths>({
  baseUrl: address!,
  headers: { Authorization: `Bearer ${key}` },
});

/** The answer, or an end of the program that says what was answered instead. */
function answered<T>(what: string, result: { data?: T; error?: unknown }): T {
  if (result.data === undefined) {
    throw new Error(`${what}: ${JSON.stringify(result.error)}`);
  }
  return result.data;
}

const account = answered("account", await client.GET("/api/v1/account"));
const summary = answered("summary", await client.GET("/api/v1/summary", {
  params: { query: { range: "last_year", marketplaces: ["US", "DE"] } },
}));
const timeline = answered("timeline", await client.GET("/api/v1/timeline", { params: { query: { range: "last_year" } } }));
const products = answered("products", await client.GET("/api/v1/reports/products", {
  params: { query: { range: "last_year", sort: "sales", page_size: 3 } },
}));
const marketplaces = answered("marketplaces", await client.GET("/api/v1/marketplaces"));
const campaigns = answered("campaigns", await client.GET("/api/v1/campaigns", {
  params: { query: { marketplace_id: marketplaces.data[0]!.marketplace_id } },
}));
const rules = answered("rules", await client.GET("/api/v1/rules"));
const runs = answered("runs", await client.GET("/api/v1/rules/{rule_id}/runs", {
  params: { path: { rule_id: rules.data[0]!.rule_id } },
}));
// A country that there is none of.
const refused = await client.GET("/api/v1/summary", { params: { query: { marketplaces: ["XX"] } } });

console.log(JSON.stringify({
  account: account.account_id,
  spend: summary.spend,
  marketplaces: summary.by_marketplace.map((m) => m.marketplace),
  points: timeline.data.length,
  products: products.data.flatMap((row) => row.product_id ?? []),
  next_page: products.pagination.next_page,
  campaigns: campaigns.pagination.total_rows,
  rule_runs: runs.data.length,
  refused: refused.error?.code,
}));
