"""The built-in parts. They enter the framework through entry points, like anyone else's."""
