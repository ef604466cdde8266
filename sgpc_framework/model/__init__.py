"""What a fit returns: a model that predicts, one of many classes, and the trace."""
