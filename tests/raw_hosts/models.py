"""RNIC models as sysfs shows them. Identities are those of pci.ids; firmware numbers follow each vendor's own scheme."""

from __future__ import annotations

from dataclasses import dataclass

# drivers/infiniband/hw/mlx5/counters.c: basic, out-of-sequence, retransmission and congestion counters.
MLX5_COUNTERS = (
    "rx_write_requests", "rx_read_requests", "rx_atomic_requests", "out_of_buffer", "out_of_sequence", "duplicate_request",
    "rnr_nak_retry_err", "packet_seq_err", "implied_nak_seq_err", "local_ack_timeout_err", "resp_local_length_error",
    "resp_cqe_error", "req_cqe_error", "req_remote_invalid_request", "req_remote_access_errors", "resp_remote_access_errors",
    "resp_cqe_flush_error", "req_cqe_flush_error", "rp_cnp_ignored", "rp_cnp_handled", "np_ecn_marked_roce_packets", "np_cnp_sent",
    "rx_icrc_encapsulated",
)  # fmt: skip
# drivers/infiniband/hw/irdma/verbs.c, irdma_hw_stat_descs.
IRDMA_COUNTERS = (
    "ip4InDiscards", "ip4InTruncPkts", "ip4InNoRoutes", "ip4OutNoRoutes", "RxECNMrkd", "cnpHandled", "cnpIgnored", "cnpSent",
    "RetransSegs", "InOptErrors", "OutProtoErrors", "InRdmaReads", "InRdmaSends", "InRdmaWrites", "OutRdmaReads", "OutRdmaSends",
    "OutRdmaWrites",
)  # fmt: skip
# drivers/infiniband/hw/bnxt_re/hw_counters.c.
BNXT_COUNTERS = (
    "active_qps", "recoverable_errors", "rx_pkts", "rx_bytes", "tx_pkts", "tx_bytes", "to_retransmits", "seq_err_naks_rcvd",
    "max_retry_exceeded", "rnr_naks_rcvd", "missing_resp", "dup_req", "res_oos_drop_count", "rx_roce_good_pkts", "rx_out_of_buffer",
    "rx_out_of_sequence", "tx_cnp_pkts", "rx_cnp_pkts", "rx_ecn_marked_pkts",
)  # fmt: skip


@dataclass(frozen=True)
class Model:
    """One model."""

    name: str
    vendor: str
    device: str
    driver: str
    hca_type: str
    firmware: str
    gbps: int
    pcie_gts: str
    ib_prefix: str
    counters: tuple[str, ...]


def _mlx5(name: str, device: str, hca: str, firmware: str, gbps: int, gts: str = "16.0") -> Model:
    return Model(name, "0x15b3", device, "mlx5_core", hca, firmware, gbps, gts, "mlx5_", MLX5_COUNTERS)


CX5 = _mlx5("ConnectX-5", "0x1019", "MT4121", "16.31.1014", 100)
CX6 = _mlx5("ConnectX-6", "0x101b", "MT4123", "20.31.1014", 200)
CX6_DX = _mlx5("ConnectX-6 Dx", "0x101d", "MT4125", "22.31.1014", 200)
CX7 = _mlx5("ConnectX-7", "0x1021", "MT4129", "28.33.2028", 400, "32.0")
BF3 = _mlx5("BlueField-3", "0xa2dc", "MT41692", "32.37.1306", 400, "32.0")
E810 = Model("E810", "0x8086", "0x1592", "ice", "", "1.71", 100, "16.0", "irdma", IRDMA_COUNTERS)
BCM57508 = Model("BCM57508", "0x14e4", "0x1750", "bnxt_en", "", "226.0.145.0", 200, "16.0", "bnxt_re", BNXT_COUNTERS)
ALL = (CX5, CX6, CX6_DX, CX7, BF3, E810, BCM57508)
