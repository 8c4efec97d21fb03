import { ActionIcon, Tooltip } from "@mantine/core";
import { IconArrowsMaximize, IconMinus, IconPlus } from "@tabler/icons-react";
import classes from "./WallCanvas.module.css";

export function CameraButtons({ onZoom, onReset }: { onZoom: (factor: number) => void; onReset: () => void }) {
  return (
    <ActionIcon.Group className={classes["camera"]} orientation="vertical">
      <Tooltip label="Zoom in (+)" position="left">
        <ActionIcon variant="default" aria-label="Zoom in" onClick={() => onZoom(1.4)}>
          <IconPlus size={15} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Zoom out (-)" position="left">
        <ActionIcon variant="default" aria-label="Zoom out" onClick={() => onZoom(1 / 1.4)}>
          <IconMinus size={15} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Show the whole fleet (0)" position="left">
        <ActionIcon variant="default" aria-label="Show the whole fleet" onClick={onReset}>
          <IconArrowsMaximize size={15} />
        </ActionIcon>
      </Tooltip>
    </ActionIcon.Group>
  );
}
