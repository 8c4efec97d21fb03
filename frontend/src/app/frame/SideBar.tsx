import { ActionIcon, Tooltip } from "@mantine/core";
import { useLocalStorage, useMediaQuery } from "@mantine/hooks";
import { IconLayoutSidebarLeftCollapse, IconLayoutSidebarLeftExpand } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { BrandMark } from "@/lib/ui/BrandMark";
import { Navigation } from "./Navigation";
import classes from "./Shell.module.css";

/** Below this width the pages need the room more than the names of others do. */
const ROOMY = "(min-width: 1360px)";

/** The navigation at the left, with names or as icons. What the reader chose holds; before, the width decides. */
export function SideBar({ open }: { open: number }) {
  const roomy = useMediaQuery(ROOMY, undefined, { getInitialValueInEffect: false });
  const [chosen, setChosen] = useLocalStorage<"names" | "icons" | "auto">({
    key: "wallwatch-side-bar",
    defaultValue: "auto",
    getInitialValueInEffect: false,
  });
  const icons = chosen === "auto" ? !roomy : chosen === "icons";
  const label = icons ? "Expand the side bar" : "Collapse the side bar";
  const Icon = icons ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  return (
    <div className={classes["side"]} data-icons={icons || undefined}>
      <Link to="/" className={classes["brand"]} aria-label="Wallwatch, go to the fleet">
        <BrandMark bare={icons} />
      </Link>
      <Navigation icons={icons} open={open} />
      <Tooltip label={label} position="right">
        <ActionIcon
          variant="subtle"
          color="gray"
          size="md"
          aria-label={label}
          aria-expanded={!icons}
          onClick={() => setChosen(icons ? "names" : "icons")}
          className={classes["collapse"]}
        >
          <Icon size={18} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
