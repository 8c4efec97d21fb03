import { Button, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { toSearchParams } from "@/lib/download";

type Query = Parameters<typeof toSearchParams>[0];

/** All that match the filters as a file, however many they are; the server streams them. */
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
        <Menu.Label>{total === undefined ? "All that match" : `All ${total.toLocaleString("en")} that match`}</Menu.Label>
        {(["csv", "json"] as const).map((format) => (
          <Menu.Item key={format} component="a" href={href(format)} download={`wallwatch-incidents.${format}`}>
            {format.toUpperCase()}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
