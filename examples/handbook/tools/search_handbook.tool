type: function
function: project_search_files
description: Search the handbook for a word or a regular expression.
arguments: { path: handbook, ignore_case: true }
