import "@/lib/ui/mantineMore.css";
import { Drawer } from "@mantine/core";
import { BrandMark } from "@/lib/ui/BrandMark";
import { Navigation } from "./Navigation";
import classes from "./Shell.module.css";

/** The side bar of narrow screens, while it is open. */
export function NarrowMenu({ open, onClose }: { open: number; onClose: () => void }) {
  return (
    <Drawer
      opened
      onClose={onClose}
      size={260}
      title={<BrandMark />}
      closeButtonProps={{ "aria-label": "Close the menu" }}
      classNames={{ content: classes["drawer"], header: classes["drawerHeader"], body: classes["drawerBody"] }}
    >
      <Navigation open={open} onGo={onClose} />
    </Drawer>
  );
}
