import { ActionIcon, Tooltip, useComputedColorScheme } from "@mantine/core";
import { useElementSize, useMergedRef } from "@mantine/hooks";
import { IconArrowsMaximize, IconMinus, IconPlus } from "@tabler/icons-react";
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { FleetState } from "@/lib/stream/fleetStore";
import classes from "./FleetCanvas.module.css";
import { type Move, neighbour } from "./hit";
import type { Colouring } from "../colouring";
import { type Arrangement, LARGE_FLEET, layoutFleet } from "./layout";
import { paint } from "./paint";
import { type Palette, readPalette } from "./palette";
import { describeTile } from "./tileText";
import { TileTooltip } from "./TileTooltip";
import { useCamera } from "./useCamera";
import { centreOn, reveal } from "./view";

function CameraButtons({ onZoom, onReset }: { onZoom: (factor: number) => void; onReset: () => void }) {
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

interface Props {
  state: FleetState;
  rows: readonly number[];
  now: number;
  colouring: Colouring;
  /** Memoise it: a new one is a new layout. */
  arrangement: Arrangement;
  /** A row to go to; each new object goes there once. */
  goTo: { row: number } | null;
  wallLabel: (wall: string) => string;
  onOpen: (host: string, pci: string) => void;
}

const ARROWS: Record<string, Move> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

/** The fleet on one canvas. `data-painted` on the holder is the number of RNICs shown, set when the first frame stands. */
export function FleetCanvas({ state, rows, now, colouring, arrangement, goTo, wallLabel, onOpen }: Props) {
  const { ref: sizeRef, width, height } = useElementSize<HTMLDivElement>();
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const palette = useRef<Palette>(null);
  const frame = useRef(0);
  const colorScheme = useComputedColorScheme("dark", { getInitialValueInEffect: false });
  const [hover, setHover] = useState({ tile: -1, x: 0, y: 0 });
  const [focus, setFocus] = useState(-1);
  const { columns, shape, staleAfterMs } = state;
  const aspect = width > 0 && height > 0 ? Math.round((width / height) * 20) / 20 : 2;
  // `shape` grows when the columns' identities change; the columns themselves are changed in place.
  const layout = useMemo(
    () => layoutFleet(columns, rows, aspect, arrangement),
    [columns, rows, aspect, arrangement, shape], // eslint-disable-line react-hooks/exhaustive-deps
  );

  const open = useCallback(
    (tile: number) => {
      const row = layout.order[tile];
      if (row !== undefined) onOpen(columns.host[row] ?? "", columns.pci[row] ?? "");
    },
    [layout, columns, onOpen],
  );

  const draw = useRef<() => void>(() => undefined);
  const request = useCallback(() => {
    if (frame.current === 0) frame.current = requestAnimationFrame(() => draw.current());
  }, []);
  const onHover = useCallback(
    (tile: number, x: number, y: number) => setHover((was) => (was.tile === tile ? was : { tile, x, y })),
    [],
  );
  const camera = useCamera(canvas, layout, width, height, { onHover, onOpen: open, onMoved: request });

  const keys = useRef<HTMLDivElement>(null);
  const gone = useRef<Props["goTo"]>(null);
  useEffect(() => {
    if (goTo === null || gone.current === goTo || width === 0) return;
    gone.current = goTo;
    const tile = layout.order.indexOf(goTo.row);
    if (tile < 0) return;
    keys.current?.focus();
    setFocus(tile);
    const { view, set, touched } = camera;
    touched.current = true;
    const shown = layout.order.length > LARGE_FLEET ? centreOn : reveal;
    set(shown(view.current, layout, tile, width, height));
  }, [goTo, layout, camera, width, height]);

  useEffect(() => {
    palette.current = null;
  }, [colorScheme]);

  useEffect(() => {
    draw.current = () => {
      frame.current = 0;
      const element = canvas.current;
      const context = element?.getContext("2d", { alpha: false });
      if (!element || !context || width === 0 || height === 0) return;
      const ratio = Math.min(2, window.devicePixelRatio || 1);
      const w = Math.round(width * ratio);
      const h = Math.round(height * ratio);
      if (element.width !== w || element.height !== h) {
        element.width = w;
        element.height = h;
      }
      palette.current ??= readPalette(element);
      paint(context, {
        layout,
        columns,
        colouring,
        palette: palette.current,
        view: camera.view.current,
        hover: hover.tile,
        focus,
        now,
        staleAfterMs,
        width,
        height,
        ratio,
      });
      if (state.asOf !== null) holder.current?.setAttribute("data-painted", String(layout.order.length));
    };
    request();
  });
  useEffect(
    () => () => {
      cancelAnimationFrame(frame.current);
      // Strict mode mounts a component twice: a cancelled frame that still counted as requested would stop all painting.
      frame.current = 0;
    },
    [],
  );

  const onKeyDown = (event: KeyboardEvent) => {
    const move = ARROWS[event.key];
    if (move) {
      const next = neighbour(layout, focus, move);
      setFocus(next);
      camera.touched.current = true;
      camera.set(reveal(camera.view.current, layout, next, width, height));
    } else if (event.key === "Enter" && focus >= 0) open(focus);
    else if (event.key === "Escape") setFocus(-1);
    else if (event.key === "+" || event.key === "=") camera.zoom(1.3);
    else if (event.key === "-") camera.zoom(1 / 1.3);
    else if (event.key === "0") camera.reset();
    else return;
    event.preventDefault();
  };

  const focusRow = layout.order[focus];
  const mergedRef = useMergedRef(sizeRef, holder);
  return (
    <div ref={mergedRef} className={classes["holder"]} data-testid="fleet-map">
      <canvas
        ref={canvas}
        className={classes["canvas"]}
        aria-hidden="true"
        style={{ cursor: hover.tile >= 0 ? "pointer" : "grab" }}
      />
      <div
        ref={keys}
        className={classes["keys"]}
        role="listbox"
        tabIndex={0}
        aria-label={`Fleet, ${layout.order.length} RNICs. Arrow keys move between tiles, Enter opens one, plus and minus zoom, 0 shows all.`}
        aria-activedescendant={focusRow === undefined ? undefined : "fleet-focus"}
        onKeyDown={onKeyDown}
        onFocus={() => setFocus((tile) => (tile < 0 && layout.order.length > 0 ? 0 : tile))}
        onBlur={() => setFocus(-1)}
      >
        <div
          id="fleet-focus"
          role="option"
          aria-selected={focusRow !== undefined}
          aria-setsize={layout.order.length}
          aria-posinset={Math.max(0, focus) + 1}
        >
          {focusRow === undefined ? "No RNIC selected" : describeTile(columns, focusRow, wallLabel, now, staleAfterMs)}
        </div>
      </div>
      {hover.tile >= 0 && (
        <TileTooltip
          columns={columns}
          row={layout.order[hover.tile] ?? -1}
          x={hover.x}
          y={hover.y}
          width={width}
          height={height}
          now={now}
          wallLabel={wallLabel}
        />
      )}
      <CameraButtons onZoom={camera.zoom} onReset={camera.reset} />
    </div>
  );
}
