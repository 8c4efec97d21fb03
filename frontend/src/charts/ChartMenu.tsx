import { ActionIcon, Menu, Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconAlertTriangle, IconDots, IconFileTypeCsv, IconPhoto, IconTable } from "@tabler/icons-react";
import { download } from "@/lib/download";
import classes from "./Chart.module.css";
import { ChartTableView } from "./ChartTableView";
import { type ChartTable, fileName, toCsv } from "./table";
import type { Pickable } from "./usePick";

interface Props {
  title: string;
  /** Made when it is asked for: most charts are only looked at. */
  table: () => ChartTable;
  /** The picture as a data URL; null before it is painted. */
  picture: () => string | null;
  /** What parts of the chart lead to. */
  pickable?: readonly Pickable[] | undefined;
}

/** What one can do with a chart besides looking at it: read it as a table, take it along as CSV or PNG. */
export function ChartMenu({ title, table, picture, pickable = [] }: Props) {
  const [opened, dialog] = useDisclosure(false);
  const savePicture = () => {
    const url = picture();
    if (url) download(`${fileName(title)}.png`, url);
  };
  const saveCsv = () => {
    const url = URL.createObjectURL(new Blob([toCsv(table())], { type: "text/csv" }));
    download(`${fileName(title)}.csv`, url);
    URL.revokeObjectURL(url);
  };
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon
            className={classes["menu"]}
            variant="subtle"
            color="gray"
            size={24}
            aria-label={`Table and downloads of ${title}`}
          >
            <IconDots size={14} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconTable size={14} />} onClick={dialog.open}>
            Show as table
          </Menu.Item>
          <Menu.Item leftSection={<IconFileTypeCsv size={14} />} onClick={saveCsv}>
            Download CSV
          </Menu.Item>
          <Menu.Item leftSection={<IconPhoto size={14} />} onClick={savePicture}>
            Download PNG
          </Menu.Item>
          {pickable.map(({ label, onPick }) => (
            <Menu.Item key={label} leftSection={<IconAlertTriangle size={14} />} onClick={onPick}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={opened} onClose={dialog.close} size="lg" title={title}>
        {opened && <ChartTableView title={title} table={table()} />}
      </Modal>
    </>
  );
}
