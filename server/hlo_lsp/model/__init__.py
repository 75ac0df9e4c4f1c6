"""The data model of dumps: shapes, values, files, compiles and the workspace."""
