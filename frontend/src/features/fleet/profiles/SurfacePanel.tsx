import { SegmentedControl, Text } from "@mantine/core";
import { useMemo } from "react";
import type { SurfaceModel, SurfacePoint } from "@/charts/surface/model";
import { SurfaceChart } from "@/charts/surface/SurfaceChart";
import type { PlacedRnic, Profile, ProfileSurface } from "@/lib/api/types";
import { plural } from "@/lib/format";
import { Panel } from "@/lib/ui/Panel";
import { QueryState } from "@/lib/ui/QueryState";
import { placed } from "./profileText";
import { EDGE, edgeFor, usePlaces, useSurface } from "./queries";

interface Props {
  profile: Profile;
  latency: boolean;
  onLatency: (latency: boolean) => void;
  /** Another version than the one active. */
  version: number | undefined;
  asked: SurfacePoint | undefined;
}

function toModel(
  surface: ProfileSurface,
  latency: boolean,
  rnics: readonly PlacedRnic[],
  asked: SurfacePoint | undefined,
): SurfaceModel {
  return {
    quantity: latency ? "latency" : "bandwidth",
    qL: surface.q_l,
    qR: surface.q_r,
    values: latency ? surface.latency_us : surface.bandwidth_gbps,
    points: placed(rnics),
    path: [],
    asked,
  };
}

function Drawn({
  surface,
  latency,
  rnics,
  asked,
  title,
}: {
  surface: ProfileSurface;
  latency: boolean;
  rnics: readonly PlacedRnic[];
  asked: SurfacePoint | undefined;
  title: string;
}) {
  const model = useMemo(() => toModel(surface, latency, rnics, asked), [surface, latency, rnics, asked]);
  return <SurfaceChart model={model} title={title} />;
}

const NONE: readonly PlacedRnic[] = [];

export function SurfacePanel({ profile, latency, onLatency, version, asked }: Props) {
  const refused = profile.versions.some((each) => each.number === version && each.parameters === null);
  const known = version !== undefined && !refused && profile.versions.some((each) => each.number === version);
  const number = known ? version : profile.active;
  const places = usePlaces(profile.model);
  const rnics = places.data ?? NONE;
  const surface = useSurface(
    profile.model,
    number,
    edgeFor([...rnics, ...(asked ? [{ q_l: asked.qL, q_r: asked.qR }] : [])]),
  );
  const beyond = rnics.filter(({ q_l, q_r }) => q_l > EDGE || q_r > EDGE).length;
  const own = rnics.filter(({ q_r_basis }) => q_r_basis === "own_ingress").length;
  return (
    <Panel
      title="Surface"
      aside={
        <Text size="xs" c="dimmed">
          {latency ? "µs" : "Gbit/s"}, {number === 0 ? "built-in" : `version ${number}`}
        </Text>
      }
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Quantity"
          value={latency ? "latency" : "bandwidth"}
          onChange={(value) => onLatency(value === "latency")}
          data={[
            { value: "bandwidth", label: "Bandwidth" },
            { value: "latency", label: "Latency" },
          ]}
        />
      }
    >
      <QueryState query={surface} lines={10}>
        {(data) => <Drawn surface={data} latency={latency} rnics={rnics} asked={asked} title={profile.model} />}
      </QueryState>
      <Text size="xs" c="dimmed" mt={6}>
        {places.isError
          ? "The fleet’s RNICs cannot be placed right now."
          : rnics.length === 0
            ? "No RNIC of this model reported in the last ten minutes."
            : `${plural(rnics.length, "dot")}: RNICs by their samples of the last ten minutes.`}
        {own > 0 && ` For ${own} of them the peers are unknown; their own ingress chain is used instead.`}
        {asked && " The diamond is the what-if."}
        {beyond > 0 && ` ${plural(beyond, "RNIC")} beyond the edge ${beyond === 1 ? "stands" : "stand"} at it.`}
      </Text>
    </Panel>
  );
}
