# SPDX-License-Identifier: MIT
"""profiling-framework's package of clients: classes derived from `client.profclient.ProfClient` run as they are."""
