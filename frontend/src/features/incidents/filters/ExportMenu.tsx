import { Button, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";

/** A query as the API reads it: lists are repeated, what is not set is left out. */
function toSearchParams(
  query: Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>,
): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    if (typeof value === "object") for (const each of value) params.append(name, each);
    else params.append(name, String(value));
  }
  return params.toString();
}

type Query = Parameters<typeof toSearchParams>[0];

/** All matches the filters as a file, however many they are; the server streams them. */
export function ExportMenu({ query, total }: { query: Query; total: number | undefined }) {
  const href = (format: "csv" | "json") => `/api/v1/incidents/export?${toSearchParams({ ...query, format })}`;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{total === undefined ? "All matches" : `All ${total.toLocaleString("en")} matches`}</Menu.Label>
        {(["csv", "json"] as const).map((format) => (
          <Menu.Item key={format} component="a" href={href(format)} download={`wallwatch-incidents.${format}`}>
            {format.toUpperCase()}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
