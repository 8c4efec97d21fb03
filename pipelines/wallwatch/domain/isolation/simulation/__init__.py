"""PicNIC's mechanisms as simulations: CPU-fair queues, rate limits for senders (PCCB, PCCP), and the sending side's buffers."""
